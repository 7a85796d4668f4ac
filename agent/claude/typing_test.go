package claude

import (
	"strings"
	"testing"

	"berth/agent"
)

func TestMessageIsOnlyAMessage(t *testing.T) {
	for _, c := range []struct{ text, typed string }{
		{"fix the login bug", "fix the login bug"},
		{"/help", "\u200b/help"},
		{" /clear", "\u200b /clear"},
		{"\ufeff/clear", "\u200b\ufeff/clear"},
		{"!ls", "\u200b!ls"},
		{"!", "\u200b!"},
		{"?", "\u200b?"},
		{"?help", "?help"},
		{"exit", "\u200bexit"},
		{"exit\n", "\u200bexit\n"},
		{":wq", "\u200b:wq"},
		{"exit please", "exit please"},
		{"Exit", "Exit"},
		{"one\n/two\n!three\nexit", "one\n/two\n!three\nexit"},
		{"@go.mod", "\u200b@go.mod "},
		{"read @go.mod now", "read \u200b@go.mod now"},
		{"ping @s", "ping \u200b@s "},
		{"ping @", "ping @ "},
		{"a@b.example and (@f)", "a@b.example and (@f) "},
		{"请读@f吧 好", "请读@f吧 好"},
		{"a\r\nb\rc", "a\nb\nc"},
		{"evil \x1b[201~\r!touch X", "evil [201~\n!touch X"},
		{"a\x00\x07\x08\x7f\u009bb\tc", "ab\tc"},
		{"a\u2028b\u202ec", "a\nbc"},
		{"", ""},
		{" \n\t", ""},
	} {
		if got := (Driver{}).Message(c.text); got != c.typed {
			t.Errorf("%q is typed as %q, not %q", c.text, got, c.typed)
		}
	}
}

func FuzzMessage(f *testing.F) {
	for _, s := range []string{"/x", " !x", "exit", "a @b", "\x1b[201~\r/x", "\u200b", "\t@"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		typed := (Driver{}).Message(text)
		body := trim(typed)
		if body != "" && (body[0] == '/' || body[0] == '!' || exitWords[body]) {
			t.Errorf("%q is typed as %q", text, typed)
		}
		if strings.ContainsAny(typed, "\x1b\r\x00\x03") || strings.ContainsRune(typed, 0x9b) {
			t.Errorf("%q is typed with a control character: %q", text, typed)
		}
	})
}

func TestCommand(t *testing.T) {
	for text, ok := range map[string]bool{"/compact": true, " /help ": true, "/": false, "help": false, "/a\nb": false, "!x": false} {
		if _, got := (Driver{}).Slash(text); got != ok {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestSameAfterClaudesChanges(t *testing.T) {
	d := Driver{}
	for _, c := range []struct {
		typed, told string
		same        bool
	}{
		{"a", "a", true},
		{"a \n", "a", true},
		{"a\tb", "a    b", true},
		{"e\u0301 \u212b", "\u00e9 \u00c5", true},
		{"a\r\nb", "a\nb", true},
		{"\u200b/help", "\u200b/help", true},
		{"\u200b/help", "/help", false},
		{" a", "a", false},
		{"a", "b", false},
		{"a", "a\nb", false},
	} {
		if d.Same(c.typed, c.told) != c.same {
			t.Errorf("%q and %q", c.typed, c.told)
		}
	}
}

func TestEcho(t *testing.T) {
	d := Driver{}
	message := func(text string) *agent.Composer {
		return &agent.Composer{Mode: agent.ModeMessage, Text: text, Empty: text == "", Focused: true}
	}
	long := strings.Repeat("word ", 60)
	for _, c := range []struct {
		typed    string
		composer *agent.Composer
		holds    bool
	}{
		{"hello", message("hello"), true},
		{"hello", message("hell"), false},
		{"hello", message("draft hello"), false},
		{"hello", message(""), false},
		{"hello", nil, false},
		{"hello", &agent.Composer{Mode: agent.ModeShell, Text: "hello"}, false},
		{"\u200b/help", message("/help"), true},
		{long, message(strings.ReplaceAll(long, "word word word ", "word word word\n")), true},
		{"家族 👨‍👩‍👧", message("家族 👨👩👧"), true},
		{"a\nb\nc\nd", message("[Pasted text #3 +3 lines]"), true},
		{"a\nb\nc\nd", message("[Pasted text #3 +4 lines]"), false},
		{"a\nb\nc\nd", message("x [Pasted text #3 +3 lines]"), false},
		{strings.Repeat("x", 10_000), message("[Pasted text #1]"), true},
	} {
		if d.Holds(c.typed, c.composer) != c.holds {
			t.Errorf("%.40q in %+v", c.typed, c.composer)
		}
	}
	if d.Displays("a\nb\nc\nd", message("[Pasted text #3 +3 lines]")) {
		t.Error("a mark shows the text")
	}
}
