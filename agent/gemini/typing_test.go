package gemini_test

import (
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/gemini"
)

func TestMessage(t *testing.T) {
	for text, want := range map[string]string{
		"1":                      "1 ", // as a paste, "1" is a key of a dialog that comes
		"12":                     "12",
		"fix it":                 "fix it",
		" \n ":                   "",
		"/help me":               "\u2060/help me",
		"  /help":                "\u2060  /help",
		"!ls":                    "\u2060!ls",
		"?":                      "\u2060?",
		"what?":                  "what?",
		"quit":                   "\u2060quit",
		"quit smoking":           "quit smoking",
		"a\x1b[201~b\x03\rc":     "a[201~b\nc",
		"a\r\nb\u2028c\td":       "a\nb\nc\td",
		"a\u202eb":               "ab",
		"see @main.go, or @/etc": "see @\u2060main.go, or @\u2060/etc ",
		"(@main.go) x":           "(@\u2060main.go) x",
		"a@b.c says @ x":         "a@\u2060b.c says @ x",
		"write to a@b.c":         "write to a@\u2060b.c ",
		`a \@b.c is none`:        `a \@b.c is none`,
		"a @, an @) and an @. x": "a @, an @) and an @. x",
		"@.env and @\u00a0b c":   "@\u2060.env and @\u2060\u00a0b c",
		"./main.go":              "\u2060./main.go",
		"'./a b' ./c":            "\u2060'./a b' ./c",
		`"/etc/hosts"`:           "\u2060" + `"/etc/hosts"`,
		`\\host\a`:               "\u2060" + `\\host\a`,
		"~x, c:y":                "\u2060~x, c:y",
		"c:y":                    "\u2060c:y",
		`"hello" he said`:        `"hello" he said`,
	} {
		if got := (gemini.Driver{}).Message(text); got != want {
			t.Errorf("%q is typed as %q, want %q", text, got, want)
		}
	}
	for text, ok := range map[string]bool{"/stats": true, " /chat save x ": true, "/": false, "stats": false, "/a\nb": false} {
		if _, got := (gemini.Driver{}).Slash(text); got != ok {
			t.Errorf("%q is a command: %v", text, got)
		}
	}
}

func TestPaste(t *testing.T) {
	for _, c := range []struct {
		typed     string
		bracketed bool
		want      string
		ok        bool
	}{
		{"a\nb", true, "\x1b[200~a\nb\x1b[201~", true},
		{"a\nb", false, "a\nb", true},
		{"a\tb", false, "a\tb", false},
	} {
		if got, ok := (gemini.Driver{}).Paste(c.typed, c.bracketed); string(got) != c.want || ok != c.ok {
			t.Errorf("%q, %v: %q, %v", c.typed, c.bracketed, got, ok)
		}
	}
	if p := (gemini.Driver{}).Pause(); p < 150*time.Millisecond {
		t.Errorf("Enter after %v may be a line break", p)
	}
}

// TestHolds compares the typed texts of the recordings with the composer that showed
// them.
func TestHolds(t *testing.T) {
	ref := reference(t)
	lines := at(t, ref, "07_nudging", 34.3).Composer // with the line break that an early Enter made
	const typed = "SCENARIO:echo pasted\nsecond line\nthird 中文 😀"
	long := strings.Repeat("中", 10244)
	box := func(text string) *agent.Composer { return &agent.Composer{Mode: agent.ModeMessage, Text: text} }
	for name, c := range map[string]struct {
		typed           string
		box             *agent.Composer
		holds, displays bool
	}{
		"three lines":        {typed, lines, true, true},
		"another text":       {typed + "x", lines, false, false},
		"a long one":         {long, box("[Pasted Text: 10244 chars]"), true, false},
		"a longer one":       {long + "x", box("[Pasted Text: 10244 chars]"), false, false},
		"many lines":         {"a\nb\nc\nd\ne\nf\ng", box("[Pasted Text: 7 lines]"), true, false},
		"the mark, and more": {long, box("[Pasted Text: 10244 chars] and"), false, false},
		"shielded":           {"\u2060/x", box("/x"), true, true},
		"empty":              {"x", &agent.Composer{Mode: agent.ModeMessage, Empty: true, Hint: "x"}, false, false},
		"another mode":       {"x", &agent.Composer{Mode: agent.ModeShell, Text: "x"}, false, false},
		"none":               {"x", nil, false, false},
	} {
		if got := (gemini.Driver{}).Holds(c.typed, c.box); got != c.holds {
			t.Errorf("%s: holds %v", name, got)
		}
		if got := (gemini.Driver{}).Displays(c.typed, c.box); got != c.displays {
			t.Errorf("%s: displays %v", name, got)
		}
	}
}

// TestBroke: an Enter that broke a line isn't mistaken for one that was not read.
func TestBroke(t *testing.T) {
	show := func(rows ...string) *agent.Composer {
		all := append([]string{"✦ Done.", "", "  ? for shortcuts", ruled, upper}, rows...)
		return draw(append(all, lower, foot)...).Composer
	}
	before := show(" > do it¦")
	if (gemini.Driver{}).Broke(before, show(" > do it¦")) || (gemini.Driver{}).Broke(before, show(" > do it", "   now¦")) || (gemini.Driver{}).Broke(before, nil) {
		t.Error("no line was broken")
	}
	broken := show(" > do it", "   ¦")
	if !(gemini.Driver{}).Broke(before, broken) || !(gemini.Driver{}).Holds("do it", broken) {
		t.Errorf("a line was broken: %+v", broken)
	}
}

func TestSame(t *testing.T) {
	prompt := payload(t, "BeforeAgent").Text
	if !(gemini.Driver{}).Same(prompt+"  \n", prompt) || (gemini.Driver{}).Same("x", prompt) || (gemini.Driver{}).Same(prompt, prompt+"\n\nand another") {
		t.Errorf("what BeforeAgent reports: %q", prompt)
	}
}

// TestNoKeyAnswers: no key that clears a composer is a key that a dialog takes.
func TestNoKeyAnswers(t *testing.T) {
	stuck := 0
	for ; stuck < 9; stuck++ {
		key := gemini.Driver{}.Clear(nil, stuck)
		if key == nil {
			break
		}
		if strings.ContainsAny(string(key), "\r\n\x1b\x03\x04 0123456789") {
			t.Errorf("key %d is %q", stuck, key)
		}
	}
	if stuck != 3 || string((gemini.Driver{}).Interrupt()) != "\x1b" {
		t.Errorf("%d keys", stuck)
	}
}
