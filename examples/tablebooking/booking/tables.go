package booking

import (
	"context"
	"fmt"
	"time"
)

// Tables knows which tables are free and reserves them. Its methods are called
// from many goroutines and may take their time.
type Tables interface {
	// Free reports whether there is a table, and if not, at which times of that
	// day there is.
	Free(ctx context.Context, people int, at time.Time) (bool, []time.Time, error)
	// Reserve books a table and returns its reference.
	Reserve(ctx context.Context, people int, at time.Time, name string) (string, error)
}

// The hours in which a table can be booked.
const (
	firstHour, lastHour = 12, 21
	fullHour            = 20
)

// SampleTables is a restaurant that is always full at eight o'clock in the evening.
type SampleTables struct{}

// Free implements [Tables].
func (SampleTables) Free(_ context.Context, _ int, at time.Time) (bool, []time.Time, error) {
	if at.Hour() != fullHour {
		return true, nil, nil
	}
	day := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, at.Location())
	return false, []time.Time{day.Add((fullHour - 1) * time.Hour), day.Add((fullHour + 1) * time.Hour)}, nil
}

// Reserve implements [Tables]. The same booking has the same reference.
func (SampleTables) Reserve(_ context.Context, people int, at time.Time, name string) (string, error) {
	return fmt.Sprintf("LT-%s-%d%s", at.Format("0102-1504"), people, initial(name)), nil
}

func initial(name string) string {
	for _, r := range name {
		return string(r)
	}
	return ""
}
