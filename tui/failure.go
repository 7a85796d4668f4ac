package tui

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"berth/api"
)

// failure is the error in one line, and when it ends if the agent has said that.
func failure(f *api.Failure, now time.Time) string {
	class := strings.ReplaceAll(f.Class, "_", " ")
	if end := endOf(f.Text, f.Since.Time, now); end != "" {
		return oneLine(class + ", " + end + ": " + f.Text)
	}
	switch {
	case f.Text == "":
		return class
	case f.Class == "other":
		return oneLine(f.Text)
	}
	return oneLine(class + ": " + f.Text)
}

// The words that agents and their providers have for the end of a limit, such as "resets 3:20pm
// (Europe/Berlin)", "try again at 3:20 PM", "will reset after 3h20m" and "try again in 2 days 4 hours".
var (
	endsAt    = regexp.MustCompile(`(?i)\b(?:resets?|try again|available again)(?: at)? (\d{1,2}(?::\d{2})? ?[ap]m\b|\d{1,2}:\d{2}\b)( ?\([\w/+-]+\))?`)
	endsAfter = regexp.MustCompile(`(?i)\b(?:resets?|try again|available again) (?:in|after) ((?:\d+(?:\.\d+)? ?(?:days?|hours?|min(?:ute)?s?|sec(?:ond)?s?|d|h|m|s)[ ,]*)+)`)
	amount    = regexp.MustCompile(`(?i)(\d+(?:\.\d+)?) ?([dhms])`)
)

var units = map[string]time.Duration{"d": 24 * time.Hour, "h": time.Hour, "m": time.Minute, "s": time.Second}

// endOf says when an error ends, as far as its text has it. A time of day keeps the agent's own words,
// because only the agent knows its time zone. A duration counts from when the error came.
func endOf(text string, since, now time.Time) string {
	if m := endsAt.FindStringSubmatch(text); m != nil {
		return "until " + m[1] + m[2]
	}
	m := endsAfter.FindStringSubmatch(text)
	if m == nil || since.IsZero() {
		return ""
	}
	end := since
	for _, part := range amount.FindAllStringSubmatch(m[1], -1) {
		n, err := strconv.ParseFloat(part[1], 64)
		if err != nil {
			return ""
		}
		end = end.Add(time.Duration(n * float64(units[strings.ToLower(part[2])])))
	}
	switch left := end.Sub(now); {
	case left <= 0:
		return "over"
	case left < 24*time.Hour:
		return "until " + end.Local().Format("15:04")
	default:
		return "until " + end.Local().Format("Jan 2 15:04")
	}
}
