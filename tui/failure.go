package tui

import (
	"strings"
	"time"

	"berth/api"
)

// failure is the error in one line, and when it ends if the agent has said that.
func failure(f *api.Failure, now time.Time) string {
	class := strings.ReplaceAll(f.Class, "_", " ")
	switch {
	case f.ResumeAt != nil:
		return oneLine(class + ", " + until(f.ResumeAt.Time, now) + ": " + f.Text)
	case f.Text == "":
		return class
	case f.Class == "other":
		return oneLine(f.Text)
	}
	return oneLine(class + ": " + f.Text)
}

// until says when an error ends, by the server's clock.
func until(end, now time.Time) string {
	switch left := end.Sub(now); {
	case left <= 0:
		return "over"
	case left < 24*time.Hour:
		return "until " + end.Local().Format("15:04")
	default:
		return "until " + end.Local().Format("Jan 2 15:04")
	}
}
