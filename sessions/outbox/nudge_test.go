package outbox

import (
	"testing"

	"berth/api"
	"berth/sessions/deliver"
)

// TestArrivedAs: a message typed with a character more or less is reported as "changed", not as
// the user's own message.
func TestArrivedAs(t *testing.T) {
	for _, c := range []struct{ text, typed, as string }{
		{"fix it", "fix it", "message"},
		{"one\r\n\ttwo \n", "one\n\ttwo \n", "message"},
		{"/help", " /help ", "message"}, // added blanks, which the agent trims
		{"/help", "\u2800/help", "changed"},
		{"read @go.mod now", "read @\u2060go.mod now", "changed"},
		{"/help", "\u200b/help", "changed"},
		{"evil \x1b[31m", "evil [31m", "changed"},
		{"a\u202eb", "ab", "changed"},
	} {
		if got := arrivedAs(deliver.Outcome{Verdict: deliver.Confirmed}, Nudge{Text: c.text}.changes(c.typed)); got != c.as {
			t.Errorf("%q, typed as %q, arrived as %s", c.text, c.typed, got)
		}
	}
	for _, o := range []deliver.Outcome{{Verdict: deliver.Unconfirmed, Code: api.CodeUnconfirmed}, {Verdict: deliver.Refused}} {
		if got := arrivedAs(o, true); got != "" {
			t.Errorf("%s: %q", o.Verdict, got)
		}
	}
	if got := arrivedAs(deliver.Outcome{Verdict: deliver.Unconfirmed, Pasted: true}, true); got != "pasted" {
		t.Errorf("pasted: %q", got)
	}
}
