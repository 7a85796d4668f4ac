package codex

import (
	"strings"
	"testing"

	"berth/agent"
	"berth/agent/compose"
)

func TestMessageIsOnlyAMessage(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for _, c := range []struct{ text, typed string }{
		{"fix the login bug", "fix the login bug"},
		{"/quit", " /quit"},
		{" /new", " /new"},
		{"\n!ls", " !ls"},
		{"!", " !"},
		{"?", "?"},
		{"?help", "?help"},
		{"one\n/two\n!three", "one\n/two\n!three"},
		{"@go.mod", "@go.mod "},
		{"read @go.mod and $skill now", "read @go.mod and $skill now"},
		{"first\n@go.mod", "first\n@go.mod "},
		{"见\u3000@go.mod", "见\u3000@go.mod "},
		{"read @", "read @ "},
		{"read @go.mod\n", "read @go.mod "},
		{"/" + long[:999], " /" + long[:999]},
		{"/" + long[:1000], "/" + long[:1000]}, // a mark: Enter adds the blank
		{"/review @go.mod", " /review @go.mod "},
		{"echo $HOME", "echo $HOME "},
		{"$", "$ "},
		{"costs 5$ to a@b.example", "costs 5$ to a@b.example"},
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
	for _, s := range []string{"/x", " !x", "exit", "a @b", "\x1b[201~\r/x", "\u200b", "\t@", "$"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		typed := (Driver{}).Message(text)
		if enter := string((Driver{}).Enter(typed)); isCommand(typed) && enter == "\r" {
			t.Errorf("%q is typed as a command: %q", text, typed)
		}
		if last := compose.LastWord(typed, blank); !folds(typed) && last != "" && (last[0] == '@' || last[0] == '$') {
			t.Errorf("%q is typed with a menu open: %q", text, typed)
		}
		if trim(typed) != trim(agent.CleanMessage(text)) {
			t.Errorf("%q is typed as another text: %q", text, typed)
		}
		if strings.ContainsAny(typed, "\x1b\r\x00\x03") || strings.ContainsRune(typed, 0x9b) {
			t.Errorf("%q is typed with a control character: %q", text, typed)
		}
	})
}

func TestSlash(t *testing.T) {
	for text, want := range map[string]string{"/compact": "/compact", " /status\n": "/status", "/": "", "status": "", "/a\n/b": ""} {
		if got, ok := (Driver{}).Slash(text); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", text, got, ok)
		}
	}
}

func TestPaste(t *testing.T) {
	long, edge, wide := strings.Repeat("x", 600), strings.Repeat("x", 999), strings.Repeat("漢", 999)
	for _, c := range []struct {
		typed     string
		bracketed bool
		want      string
		ok        bool
	}{
		{"one\ntwo", true, "\x1b[200~one\ntwo\x1b[201~", true},
		{" /one @two ", true, "\x1b[200~ /one @two \x1b[201~", true},
		{" /" + edge + " ", true, " \x1b[200~/" + edge + "\x1b[201~ ", true}, // the added blanks would turn it into a mark
		{" /" + wide, true, "\x1b[200~ /" + wide + "\x1b[201~", true},
		{long, true, "\x1b[200~" + long + "\x1b[201~", true},
		{"one", false, "one", true},
		{"one\ntwo", false, "one\ntwo", false},
		{"a\tb", false, "a\tb", false},
		{long, false, long, false}, // of more, Codex reads no further
	} {
		if got, ok := (Driver{}).Paste(c.typed, c.bracketed); string(got) != c.want || ok != c.ok {
			t.Errorf("%.20q bracketed %v: %.40q, %v", c.typed, c.bracketed, got, ok)
		}
	}
}

func TestEnter(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for typed, want := range map[string]string{
		"fix it": "\r", " /quit": "\r", "x" + long: "\r",
		"/" + long: "\x01\x1b[200~ \x1b[201~\r", " !" + long: "\x01\x1b[200~ \x1b[201~\r",
	} {
		if got := string((Driver{}).Enter(typed)); got != want {
			t.Errorf("%.20q is sent by %q", typed, got)
		}
	}
}

func TestSame(t *testing.T) {
	for _, c := range []struct {
		typed, told string
		same        bool
	}{
		{"fix it", "fix it", true},
		{"fix it \n\n", "fix it", true}, // Codex trims
		{"one\ntwo 中文 😀", "one\ntwo 中文 😀", true},
		{"e\u0301", "\u00e9", true},
		{"a\tb", "a    b", true},
		{"fix it", "fix that", false},
		{"one\ntwo", "one two", false},
	} {
		if got := (Driver{}).Same(c.typed, c.told); got != c.same {
			t.Errorf("%q and %q: %v", c.typed, c.told, got)
		}
	}
}

func TestHolds(t *testing.T) {
	composer := func(text string) *agent.Composer {
		return &agent.Composer{Mode: agent.ModeMessage, Text: text, Focused: true}
	}
	long := strings.Repeat("0123456789 ", 120)
	for name, c := range map[string]struct {
		typed    string
		composer *agent.Composer
		holds    bool
		displays bool
	}{
		"the text":                     {"fix the bug", composer("fix the bug"), true, true},
		"broken into lines":            {"fix the bug", composer("fix the\nbug"), true, true},
		"with a blank in front":        {" /quit", composer("/quit"), true, true},
		"a draft before it":            {"fix the bug", composer("I think fix the bug"), false, false},
		"a mark":                       {long, composer("[Pasted Content 1320 chars]"), true, false},
		"a mark of another":            {long, composer("[Pasted Content 1319 chars]"), false, false},
		"a mark and more":              {long, composer("[Pasted Content 1320 chars] x"), false, false},
		"a line break that was no key": {"fix", composer("fix\n"), true, true},
		"a symbol drawn over":          {"fix the bug 🦀 in the parser", composer("fix the bug   in the parser"), true, true},
		"a symbol of a person's":       {"fix the bug in the parser", composer("fix the bug 🦀 in the parser"), false, false},
		"a word drawn over":            {"fix the bug 🦀 in the parser", composer("fix the bug 🦀 in parser"), false, false},
		"most symbols missing":         {"🦀🦀🦀 a", composer("a"), false, false},
		"nothing":                      {"fix", &agent.Composer{Mode: agent.ModeMessage, Empty: true}, false, false},
		"no composer":                  {"fix", nil, false, false},
	} {
		if got := (Driver{}).Holds(c.typed, c.composer); got != c.holds {
			t.Errorf("%s: holds %v", name, got)
		}
		if got := (Driver{}).Displays(c.typed, c.composer); got != c.displays {
			t.Errorf("%s: displays %v", name, got)
		}
	}
}

// TestNoKeyEndsIt: no key that Berth presses of itself ends Codex or answers a
// dialog.
func TestNoKeyEndsIt(t *testing.T) {
	d := Driver{}
	keys := [][]byte{d.Clear(nil, 0), d.Clear(nil, 1), d.Interrupt()}
	for _, key := range keys {
		if len(key) != 1 || key[0] == 3 || key[0] == 4 || key[0] == '\r' {
			t.Errorf("presses %q", key)
		}
	}
	if d.Clear(nil, 2) != nil {
		t.Error("clears on and on")
	}
}
