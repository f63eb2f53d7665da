package expr

import (
	"strings"
	"time"
)

// NowType is the type of what [Now] gives: the name now in flow files.
func NowType() Type {
	return Object(map[string]Type{
		"text": String(), "date": String(), "time": String(), "unix": Int(),
		"year": Int(), "month": Int(), "day": Int(), "hour": Int(), "minute": Int(),
		"weekday": Enum("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
	})
}

// Now is a moment as expressions see it, in the zone of t: text (RFC 3339), date
// (2006-01-02), time (15:04), unix (seconds), year, month, day, hour, minute, weekday.
func Now(t time.Time) map[string]any {
	return map[string]any{
		"text": t.Format(time.RFC3339), "date": t.Format(time.DateOnly), "time": t.Format("15:04"), "unix": t.Unix(),
		"year": int64(t.Year()), "month": int64(t.Month()), "day": int64(t.Day()),
		"hour": int64(t.Hour()), "minute": int64(t.Minute()),
		"weekday": strings.ToLower(t.Weekday().String()),
	}
}
