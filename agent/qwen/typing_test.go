package qwen_test

import (
	"strings"
	"testing"

	"berth/agent"
	"berth/agent/qwen"
)

func TestMessage(t *testing.T) {
	for text, want := range map[string]string{
		"1":                    "1 ", // as a paste, "1" is a key of a dialog that comes
		"12":                   "12",
		"fix it":               "fix it",
		" \n ":                 "",
		"/help me":             "\u2060/help me",
		" /clear":              "\u2060 /clear ",
		"see /help":            "see /help ",
		"!ls":                  "\u2060!ls",
		"?":                    "\u2060?",
		"what?":                "what?",
		":wq":                  "\u2060:wq",
		"quit":                 "\u2060quit",
		"a\x1b[201~b\x03\rc":   "a[201~b\nc",
		"see @main.go, or":     "see @\u2060main.go, or",
		"write to a@b.c":       "write to a@\u2060b.c ",
		"./main.go":            "\u2060./main.go",
		"picture.PNG":          "\u2060picture.PNG",
		"a\nb.jpeg\n":          "\u2060a\nb.jpeg\n",
		`a backslash at the \`: `a backslash at the \ `,
	} {
		if got := (qwen.Driver{}).Message(text); got != want {
			t.Errorf("%q is typed as %q, want %q", text, got, want)
		}
	}
}

func TestHolds(t *testing.T) {
	long := strings.Repeat("漢字 ", 400)
	for _, c := range []struct {
		typed, shown string
		want         bool
	}{
		{"fix it", "fix it", true},
		{"fix it", "fix", false},
		{"a b", "a\nb", true}, // wrapped
		{long, "[Pasted Content 1200 chars]", true},
		{long, "[Pasted Content 1200 chars] #2", true},
		{long, "[Pasted Content 1199 chars]", false},
		{"x", "[Pasted Content 1200 chars]", false},
	} {
		if got := (qwen.Driver{}).Holds(c.typed, &agent.Composer{Mode: agent.ModeMessage, Text: c.shown}); got != c.want {
			t.Errorf("%.20q in %q: %v", c.typed, c.shown, got)
		}
	}
	if (qwen.Driver{}).Holds("x", &agent.Composer{Mode: agent.ModeShell, Text: "x"}) || (qwen.Driver{}).Holds("x", nil) {
		t.Error("a shell command is a message")
	}
}

// TestBroke: an Enter that broke a line isn't mistaken for one that was not read.
func TestBroke(t *testing.T) {
	rule := strings.Repeat("─", 60)
	show := func(rows string) *agent.Composer {
		return draw(60, 20, rule+"\n"+rows+"\n"+rule+"\n  ➜ ws · mock-model").Composer
	}
	before, broken := show("> do it"), show("> do it\n  ")
	if (qwen.Driver{}).Broke(before, show("> do it")) || (qwen.Driver{}).Broke(before, show("> do it\n  now")) || (qwen.Driver{}).Broke(before, nil) || (qwen.Driver{}).Broke(nil, broken) {
		t.Error("no line was broken")
	}
	if !(qwen.Driver{}).Broke(before, broken) || !(qwen.Driver{}).Holds("do it", broken) {
		t.Errorf("a line was broken: %+v", broken)
	}
}
