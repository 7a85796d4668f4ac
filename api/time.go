package api

import (
	"fmt"
	"time"
)

// TimeLayout is RFC 3339 in UTC with milliseconds.
const TimeLayout = "2006-01-02T15:04:05.000Z"

// Time is a point in time in Berth's JSON. The zero Time prints as null.
type Time struct{ time.Time }

// At wraps t.
func At(t time.Time) Time { return Time{t} }

// MarshalJSON writes the time in TimeLayout, or null.
func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return []byte(`"` + t.UTC().Format(TimeLayout) + `"`), nil
}

// UnmarshalJSON reads the output of MarshalJSON and any other RFC 3339 time.
func (t *Time) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		t.Time = time.Time{}
		return nil
	}
	if len(b) < 2 || b[0] != '"' {
		return fmt.Errorf("time %q is not a string", b)
	}
	parsed, err := time.Parse(time.RFC3339Nano, string(b[1:len(b)-1]))
	if err != nil {
		return fmt.Errorf("time %s: %w", b, err)
	}
	t.Time = parsed
	return nil
}
