package deliver

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/api"
)

// TestShown: without any report and any work, a message was taken if the screen shows it in the conversation, once more
// than before, and the composer is empty or has gone for a dialog.
func TestShown(t *testing.T) {
	for name, tc := range map[string]struct {
		before, after string // the conversation
		now           *agent.Reading
		unread        int
		want          Verdict
	}{
		"taken":                    {"", "> hello\n● Hi.", composer(""), 0, Confirmed},
		"it asks":                  {"", "❯ hello\n", dialog, 0, Confirmed},
		"shown before too":         {"> hello", "> hello\n> hello\n✕ 400", composer(""), 0, Confirmed},
		"only the one from before": {"> hello", "> hello\n● Hi.", composer(""), 0, Unconfirmed},
		"in the composer":          {"", "> hello", composer("hello"), 0, Unconfirmed},
		"amid a text":              {"", "● It said hello to all.", composer(""), 0, Unconfirmed},
		"not drawn":                {"", "● Hi.", composer(""), 0, Unconfirmed},
		"Enter isn't read":         {"", "> hello", composer(""), 1, Unconfirmed},
		"half drawn":               {"", "> hello", &agent.Reading{}, 0, Unconfirmed},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, Options{})
			s.wrote("<hello>")
			s.seen.Reading = composer("hello")
			s.seen.Rows = strings.Split(tc.before+"\n────\n> hello\n────", "\n")
			s.wrote("\r")
			entered := s.now
			s.seen.Reading, s.seen.Unread = tc.now, tc.unread
			s.seen.Rows = strings.Split(tc.after+"\n────\n>\n────", "\n")
			code := api.Code("")
			if tc.want == Unconfirmed {
				code = api.CodeUnconfirmed
			}
			s.ended(tc.want, code)
			if got := s.done.Unseen; tc.want == Confirmed && entered.Sub(got).Abs() > time.Second || tc.want != Confirmed && !got.IsZero() {
				t.Errorf("%+v, and Enter was at %s", s.done, entered)
			}
		})
	}
}

// TestShownWithAWord: a report of work is more than the screen, and then the turn is known.
func TestShownWithAWord(t *testing.T) {
	s := newScene(t, Options{})
	s.wrote("<hello>")
	s.seen.Reading = composer("hello")
	s.wrote("\r")
	s.m.Fact(agent.Fact{Kind: agent.LevelIs, Level: agent.LevelBusy, Cause: "title:working"})
	s.seen.Reading, s.seen.Rows = composer(""), []string{"> hello"}
	s.ended(Confirmed, "")
	if !s.done.Unseen.IsZero() || !strings.HasPrefix(s.done.Evidence, "title:working") {
		t.Errorf("%+v", s.done)
	}
}

// TestPlaces: a message is found as agents draw it.
func TestPlaces(t *testing.T) {
	long := ""
	for i := range 200 {
		long += fmt.Sprint("word", i, " ")
	}
	for _, tc := range []struct {
		text, rows string
		want       int
	}{
		{"hello", "> hello", 1},
		{"hello", "  ❯ hello                          03:32   ┃", 1},
		{"hello", "┃  hello", 1},
		{"hello", "hello\n> hello\n│ hello │", 3},
		{"hello", "> hello you\n> ahello\n> hell", 0},
		{"hello you", "> hello\n  you", 1},
		{"hello you", "> hello\n", 0},
		{"\u2060!touch x", " > !touch x", 1},
		{"> a quote", "> > a quote\n> a quote", 2},
		{"one\n\ntwo", "❯ one\n\n  two\n", 1},
		{"漢字漢字", "> 漢字\n  漢字", 1},
		{long, "> " + strings.ReplaceAll(long, "9 ", "9\n  "), 1},
		{long, "> " + long[:900], 1},
		{long, "> " + long[:300], 0},
		{"x", "> x\nexit\n> x y", 1},
	} {
		if got := places(strings.Split(tc.rows, "\n"), tc.text); got != tc.want {
			t.Errorf("%.20q in %.60q: %d, want %d", tc.text, tc.rows, got, tc.want)
		}
	}
	if fmt.Sprint(places(nil, "x"), places([]string{""}, ""), places([]string{"x"}, "")) != "0 0 0" {
		t.Error("nothing is found in nothing")
	}
}

// TestReadsLate: an agent that computes before it reads the message is given time for that, and one that only doesn't read
// it isn't.
func TestReadsLate(t *testing.T) {
	for name, tc := range map[string]struct {
		computes bool
		reads    time.Duration
		want     Verdict
		code     api.Code
	}{
		"computes":          {true, 5 * time.Second, Confirmed, ""},
		"computes for long": {true, time.Hour, Refused, api.CodeAgentBusy},
		"does nothing":      {false, 5 * time.Second, Refused, api.CodeAgentBusy},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, Options{})
			s.wrote("<hello>")
			s.seen.Unread, s.seen.Held, s.seen.Computes = 5, true, tc.computes
			for end := s.now.Add(tc.reads); s.done == nil && s.now.Before(end); s.now = s.now.Add(10 * time.Millisecond) {
				s.step()
			}
			if s.done == nil {
				s.seen.Unread, s.seen.Held, s.seen.Computes = 0, false, false
				if out := s.run(2 * time.Second); out != "" || s.done != nil { // it has read the text, and not drawn it
					t.Fatalf("it wrote %q, and ended with %+v", out, s.done)
				}
				s.seen.Reading = composer("hello")
				s.wrote("\r")
				s.told("hello")
			}
			s.ended(tc.want, tc.code)
			if late := s.now.Sub(start); tc.want == Refused && (late > 11*time.Second || tc.computes && late < echoMost) {
				t.Errorf("it ended after %s: %+v", late, s.done)
			}
		})
	}
}
