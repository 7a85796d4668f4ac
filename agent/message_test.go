package agent

import "testing"

func TestCleanMessage(t *testing.T) {
	for text, want := range map[string]string{
		"a\tb\nc":                    "a\tb\nc",
		"a\r\nb\rc\u2028d\u2029e":    "a\nb\nc\nd\ne",
		"evil\x1b[201~\r!touch x":    "evil[201~\n!touch x",
		"\x00\x07\x08\x7f\u009b2J":   "2J",
		"\u202egnp\u2066x\u2069":     "gnpx",
		"日本 é 👩‍👩‍👧 \u200b/x \ufeff": "日本 é 👩‍👩‍👧 \u200b/x \ufeff",
	} {
		if got := CleanMessage(text); got != want {
			t.Errorf("%q is cleaned to %q, want %q", text, got, want)
		}
	}
}
