package agent_test

import (
	"testing"
	"time"

	"berth/agent"
)

func TestResumeAt(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	since := time.Date(2026, 11, 20, 14, 0, 0, 0, berlin) // 13:00 in UTC
	for text, want := range map[string]string{
		"You've hit your session limit · resets 3:20pm (Europe/Berlin)":  "2026-11-20T14:20:00Z",
		"You've hit your session limit · resets 3:20pm (UTC)":            "2026-11-20T15:20:00Z",
		"You've hit your limit · resets 9am (America/New_York)":          "2026-11-20T14:00:00Z",
		"You've hit your weekly limit · resets Nov 27, 3pm (Asia/Tokyo)": "2026-11-27T06:00:00Z",
		"Your limit resets Nov 27 at 3pm":                                "2026-11-27T14:00:00Z",
		"You've hit your usage limit. Try again at 3:20 PM.":             "2026-11-20T14:20:00Z",
		"or try again at Nov 27th, 2026 3:20 PM.":                        "2026-11-27T14:20:00Z",
		"try again at Jan 2nd 8:05 AM":                                   "2027-01-02T07:05:00Z",
		"Access resets at 3:20 PM GMT+1.":                                "2026-11-20T14:20:00Z",
		"Access resets at 7:20 AM UTC-8.":                                "2026-11-20T15:20:00Z",
		"resets 18:00":                                                   "2026-11-20T17:00:00Z",
		"resets 12am":                                                    "2026-11-20T23:00:00Z",
		"resets 12pm":                                                    "2026-11-21T11:00:00Z", // tomorrow
		"resets 1:59pm":                                                  "2026-11-21T12:59:00Z",
		"resets 2pm":                                                     "2026-11-20T13:01:00Z", // this minute
		"Your quota will reset after 1h20m30s.":                          "2026-11-20T14:20:30Z",
		"Please try again in 2 days 1 hour.":                             "2026-11-22T14:00:00Z",
		"Rate limit reached. Please try again in 1.5s.":                  "2026-11-20T13:00:01Z",
		"resets at 2026-11-20T17:30:00+01:00":                            "2026-11-20T16:30:00Z",
		"Claude AI usage limit reached|1795200000":                       "2026-11-20T18:40:00Z",

		"try again in a moment": "", "slow down": "", "resets 12 counters": "", "resets 3:75pm": "", "resets 14pm": "", "resets 25:00": "",
		"resets 3pm (Mars/Olympus)":            "", // it is known that this isn't local time
		"Access resets at 3:20 PM PQT":         "",
		"resets at 2026-11-19T17:30:00Z":       "",
		"usage limit reached|1000000000":       "",
		"try again at Nov 19th, 2026 3:20 PM.": "",
		"try again in 900 days":                "",
		"try again in 99999999999999999999 h":  "",
	} {
		got, ok := agent.ResumeAt(text, since, berlin)
		shown := ""
		if ok {
			shown = got.Format(time.RFC3339)
		}
		if shown != want {
			t.Errorf("%q ends %q, want %q", text, shown, want)
		}
	}
}

// Clocks go back by an hour in the night: tomorrow at the same time is 25 hours away.
func TestResumeAtOverChangeOfClocks(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	since := time.Date(2026, 10, 24, 15, 5, 0, 0, berlin)
	if got, ok := agent.ResumeAt("resets 3pm", since, berlin); !ok || got.Format(time.RFC3339) != "2026-10-25T14:00:00Z" {
		t.Errorf("%v %v", got, ok)
	}
}
