package claude

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"

	"berth/agent"
	"berth/agent/compose"
)

func TestMessageIsOnlyAMessage(t *testing.T) {
	for _, c := range []struct{ text, typed string }{
		{"fix the login bug", "fix the login bug"},
		{"/help", "\u2800/help"},
		{" /clear", "\u2800 /clear"},
		{"\ufeff/clear", "\u2800\ufeff/clear"},
		{"!ls", "\u2800!ls"},
		{"!", "\u2800!"},
		{"?", "\u2800?"},
		{"?help", "?help"},
		{"exit", "\u2800exit"},
		{"exit\n", "\u2800exit\n"},
		{":wq", "\u2800:wq"},
		{"exit please", "exit please"},
		{"Exit", "Exit"},
		{"one\n/two\n!three\nexit", "one\n/two\n!three\nexit"},
		{"@go.mod", "\u2800@go.mod "},
		{"read @go.mod now", "read \u2800@go.mod now"},
		{"ping @s", "ping \u2800@s "},
		{"ping @", "ping @ "},
		{"a@b.example and (@f)", "a@b.example and (@f) "},
		{"请读@f吧 好", "请读@f吧 好"},
		{"a\r\nb\rc", "a\nb\nc"},
		{"evil \x1b[201~\r!touch X", "evil [201~\n!touch X"},
		{"a\x00\x07\x08\x7f\u009bb\tc", "ab\tc"},
		{"a\u2028b\u202ec", "a\nbc"},
		{"\u200b/clear", "\u2800\u200b/clear"}, // what 2.1.330 takes out of it
		{"\u2060!ls", "\u2800\u2060!ls"},
		{"\u200cexit", "\u2800\u200cexit"},
		{"read \u200b@go.mod now", "read \u200b\u2800@go.mod now"},
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
		body := compose.Trim(typed)
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
		{"\u2800/help", "\u2800/help", true},
		{"\u2800/help", "/help", false},
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
		{"\u2800/help", message("\u2800/help"), true},
		{long, message(strings.ReplaceAll(long, "word word word ", "word word word\n")), true},
		{"家族 👨‍👩‍👧", message("家族 👨👩👧"), true},
		{"a\nb\nc\nd", message("[Pasted text #3 +3 lines]"), true},
		{"a\nb\nc\nd", message("[Pasted text #3 +4 lines]"), false},
		{"a\nb\nc\nd", message("x [Pasted text #3 +3 lines]"), false},
		{strings.Repeat("x", 10_000), message("[Pasted text #1]"), true},
		{"head " + long + "tail", message("head wo[...Truncated text #1 +0 lines...]rd tail"), true},
		{"head " + long + "tail", message("head wo[...Truncated text #1 +0 lines...]rd other"), false},
		{"head " + long + "tail", message("draft head wo[...Truncated text #1 +0 lines...]rd tail"), false},
		{"one two three", &agent.Composer{Mode: agent.ModeMessage, Text: "two\nthree", Above: true}, true},
		{"one two three", &agent.Composer{Mode: agent.ModeMessage, Text: "two\nthree 1", Above: true}, false},
	} {
		if d.Holds(c.typed, c.composer) != c.holds {
			t.Errorf("%.40q in %+v", c.typed, c.composer)
		}
	}
	if d.Displays("a\nb\nc\nd", message("[Pasted text #3 +3 lines]")) {
		t.Error("a mark shows the text")
	}
}

// TestPieces: each piece of a paste is shorter than the texts that Claude folds. It is cut
// between characters as a person sees them, and is never the whole path of an image.
func TestPieces(t *testing.T) {
	family := "👨\u200d👩\u200d👧"
	for _, text := range []string{
		"", "one", "a\nb\nc", "a\nb\nc\nd", "\n\n\n\n", strings.Repeat("word ", 2000), strings.Repeat("0123456789", 1000),
		strings.Repeat("漢", 3000), strings.Repeat(family, 300), strings.Repeat("e\u0301", 1000), strings.Repeat("🇩🇪", 500),
		strings.Repeat("a line\n", 500), "look at\n/tmp/shot.PNG\n/tmp/b.jpeg and\nmore", strings.Repeat("\u0301", 2000),
	} {
		list := pieces(text)
		if strings.Join(list, "") != text {
			t.Fatalf("%.40q is not whole", text)
		}
		for i, p := range list {
			if n := len(utf16.Encode([]rune(p))); n > 800 && !strings.HasPrefix(text, "\u0301") || strings.Count(p, "\n") > 2 {
				t.Errorf("%.40q: a piece has %d characters and %d line feeds", text, n, strings.Count(p, "\n"))
			}
			if image.MatchString(p) {
				t.Errorf("%.40q: %q names an image", text, p)
			}
			if first := []rune(p); i > 0 && unicode.In(first[0], unicode.Mn, unicode.Cf) {
				t.Errorf("%.40q is cut within a character", text)
			}
			if i > 0 && strings.HasPrefix(text, "🇩🇪") && !strings.HasPrefix(p, "🇩🇪") || strings.HasPrefix(text, family) && !strings.HasPrefix(p, family) {
				t.Errorf("%.40q is cut within an emoji", text)
			}
		}
	}
	data, ok := Driver{}.Paste("a\nb\nc\nd", true)
	if want := "\x1b[200~a\nb\nc\x1b[201~\x1b[200~\nd\x1b[201~"; !ok || string(data) != want {
		t.Errorf("typed as %q", data)
	}
}

func TestFolded(t *testing.T) {
	d := Driver{}
	wrapped := "\n\n<pasted_content id=\"c3aa\">\na\nb\nc\nd\n</pasted_content id=\"c3aa\">\n"
	for _, c := range []struct {
		typed, told string
		folded      bool
	}{
		{"a\nb\nc\nd", wrapped, true},
		{"a\nb\nc\nd", "a\nb\nc\nd", false},
		{"a\nb\nc\ne", wrapped, false},
		{"see a\nb\nc\nd", "see" + wrapped, true},
	} {
		if d.Folded(c.typed, c.told) != c.folded || c.folded && d.Same(c.typed, c.told) {
			t.Errorf("%q and %q", c.typed, c.told)
		}
	}
}
