package graph

import (
	"encoding/json"
	"fmt"
	"time"
)

// Schema is a JSON Schema as plain values: nil, bool, int64, float64, string, []any and
// map[string]any.
type Schema map[string]any

// JSON is the schema as JSON, nil when there is none.
func (s Schema) JSON() json.RawMessage {
	if s == nil {
		return nil
	}
	raw, err := marshal(map[string]any(s))
	if err != nil {
		return nil // Flow.Document reports it
	}
	return raw
}

// Optional tells whether a parameter with this schema may be left out.
func (s Schema) Optional() bool {
	optional, _ := s["optional"].(bool)
	return optional
}

// Duration is a time.Duration that is written like 1.5s in a file.
type Duration time.Duration

// String writes it.
func (d Duration) String() string { return time.Duration(d).String() }

// parseDuration reads one; it must not be negative.
func parseDuration(s string) (Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("%q is not a length of time", s)
	}
	if d < 0 {
		return 0, fmt.Errorf("%q is negative", s)
	}
	return Duration(d), nil
}
