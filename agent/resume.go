package agent

import (
	"strconv"
	"strings"
	"time"

	"berth/agent/pattern"
)

// The words that agents and their providers have for the end of a limit: "resets 3:20pm (Europe/Berlin)",
// "resets Nov 27 at 3pm (UTC)", "try again at 3:20 PM", "Access resets at 3:20 PM GMT+1", "try again at
// Nov 27th, 2026 3:20 PM", "will reset after 3h20m", "try again in 2 days 4 hours",
// "resets at 2026-11-27T15:20:00Z", and "usage limit reached|1795791600", in seconds since 1970.
var (
	endsAt = pattern.New(`(?i)\b(?:resets?|try again|available again)(?: on| at)? ` +
		`(?:(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?(?:,| at|, at)? )?` +
		`(\d{1,2})(?::(\d{2}))? ?(am|pm)?\b` +
		`(?: ?\(([\w/+:-]+)\)| ((?-i:[A-Z]{2,5}(?:[+-]\d{1,2}(?::\d{2})?)?))\b)?`)
	endsOn    = pattern.New(`(?i)\b(?:resets?|try again|available again)(?: on| at| after)? (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d))`)
	endsAfter = pattern.New(`(?i)\b(?:resets?|try again|available again) (?:in|after) ((?:\d+(?:\.\d+)? ?(?:days?|hours?|min(?:ute)?s?|sec(?:ond)?s?|d|h|m|s)[ ,]*)+)`)
	endsEpoch = pattern.New(`(?i)\blimit reached\|(\d{10})\b`)
	amount    = pattern.New(`(?i)(\d+(?:\.\d+)?) ?([dhms])`)
	zoneName  = pattern.New(`^(?:UTC|GMT|Z)(?:([+-])(\d{1,2})(?::?(\d{2}))?)?$`)
)

// mostPark limits how far away the end of a limit may be. Limits are by the month at most.
const mostPark = 62 * 24 * time.Hour

// ResumeAt is when a limit ends that an error's text names; ok is false if it names no end. since is
// when the error came, and local the time zone of a text without one. A time of day that has passed is
// tomorrow's. The minute that has begun counts as its end: "resets 3pm" at 15:00:20 is 15:01.
func ResumeAt(text string, since time.Time, local *time.Location) (at time.Time, ok bool) {
	switch {
	case endsOn.MatchString(text):
		at, _ = time.Parse(time.RFC3339, endsOn.FindStringSubmatch(text)[1]) // no time is before since
	case endsEpoch.MatchString(text):
		seconds, _ := strconv.ParseInt(endsEpoch.FindStringSubmatch(text)[1], 10, 64) // the pattern has ten digits
		at = time.Unix(seconds, 0)
	case endsAfter.MatchString(text):
		at = since.Add(length(endsAfter.FindStringSubmatch(text)[1]))
	default:
		at = clockTime(endsAt.FindStringSubmatch(text), since, local)
	}
	if !at.After(since) || at.Sub(since) > mostPark {
		return time.Time{}, false
	}
	return at.UTC().Truncate(time.Second), true
}

// length is the sum of amounts such as "2 days 4 hours"; 0 if it is too much.
func length(text string) (sum time.Duration) {
	units := map[string]time.Duration{"d": 24 * time.Hour, "h": time.Hour, "m": time.Minute, "s": time.Second}
	for _, part := range amount.FindAllStringSubmatch(text, -1) {
		n, err := strconv.ParseFloat(part[1], 64)
		unit := units[strings.ToLower(part[2])]
		if err != nil || n > float64(mostPark/unit) {
			return 0
		}
		sum += time.Duration(n * float64(unit))
	}
	return sum
}

// clockTime is the next time that a match of endsAt names; zero if it names none.
func clockTime(m []string, since time.Time, local *time.Location) (at time.Time) {
	if m == nil || m[5] == "" && m[6] == "" { // a number such as in "resets 12 counters"
		return at
	}
	zone, ok := zoneOf(m[7]+m[8], local)
	hour, _ := strconv.Atoi(m[4]) // the pattern allows only digits
	minute, _ := strconv.Atoi(m[5])
	half := strings.ToLower(m[6])
	if !ok || hour > 23 || minute > 59 || half != "" && (hour < 1 || hour > 12) {
		return at
	}
	if half != "" {
		hour %= 12
	}
	if half == "pm" {
		hour += 12
	}
	now := since.In(zone)
	year, month, day := now.Date()
	if m[1] != "" {
		named, err := time.Parse("Jan", strings.ToUpper(m[1][:1])+strings.ToLower(m[1][1:]))
		if err != nil {
			return at
		}
		month = named.Month()
		day, _ = strconv.Atoi(m[2])
	}
	if m[3] != "" {
		year, _ = strconv.Atoi(m[3])
	}
	at = time.Date(year, month, day, hour, minute, 0, 0, zone)
	switch passed := now.Sub(at); {
	case passed < 0:
	case passed < time.Minute:
		at = at.Add(time.Minute)
	case m[1] == "":
		at = time.Date(year, month, day+1, hour, minute, 0, 0, zone)
	case m[3] == "":
		at = time.Date(year+1, month, day, hour, minute, 0, 0, zone)
	}
	return at
}

// zoneOf is a time zone by its name in the tz database, or by its distance from UTC.
func zoneOf(name string, local *time.Location) (zone *time.Location, ok bool) {
	if name == "" {
		return local, true
	}
	if m := zoneName.FindStringSubmatch(name); m != nil {
		hours, _ := strconv.Atoi(m[2])
		minutes, _ := strconv.Atoi(m[3])
		offset := hours*3600 + minutes*60
		if m[1] == "-" {
			offset = -offset
		}
		return time.FixedZone(name, offset), hours <= 14
	}
	zone, err := time.LoadLocation(name)
	return zone, err == nil
}
