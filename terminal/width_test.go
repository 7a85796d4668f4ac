package terminal

import (
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
)

func TestWidths(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, "abc": 3, "a\tb": 2, "\u4f60\u597d": 4, "e\u0301": 1, "\u2733 Claude": 8, "\u2500\u2588\u28ff": 3,
		"\U0001f600": 2, "\U0001f468\u200d\U0001f469\u200d\U0001f467": 2, "\U0001f44d\U0001f3fd": 2, "\U0001f1e9\U0001f1ea": 2,
		"\u26a0\ufe0f": 2, "\u26a0": 1, "\u0e01\u0e33": 2, "\u1112\u1161\u11ab": 2, "\uff71\uff72": 2, "\uff21": 2,
		"\u0928\u092e\u0938\u094d\u0924\u0947": 4, "a\u200bb": 2, "\ufeff": 0,
	} {
		if got := StringWidth(s); got != want {
			t.Errorf("width of %+q is %d, want %d", s, got, want)
		}
		if s != "" && !strings.Contains(s, "\t") && want > 0 {
			term := write(40, 2, s)
			if col := term.Cursor().Col; col != want {
				t.Errorf("%+q takes %d columns on the screen, want %d", s, col, want)
			}
		}
	}
}

// TestShortcutsAgreeWithTheTable holds the ranges answered without the table
// against the table.
func TestShortcutsAgreeWithTheTable(t *testing.T) {
	for r := rune(0xa0); r < 0x30000; r++ {
		if isRegional(r) || r >= 0x1160 && r <= 0x11ff || r >= 0xd7b0 && r <= 0xd7fb || r >= 0xd800 && r <= 0xdfff {
			continue
		}
		if got, want := RuneWidth(r), displaywidth.Rune(r); got != want {
			t.Errorf("%U: %d, the table says %d", r, got, want)
		}
	}
}

func TestClusters(t *testing.T) {
	const s = "ae\u0301\U0001f44d\U0001f3fd\U0001f1e9\U0001f1ea\U0001f1ef\U0001f1f5\x1bx"
	want := []string{"a", "e\u0301", "\U0001f44d\U0001f3fd", "\U0001f1e9\U0001f1ea", "\U0001f1ef\U0001f1f5", "\x1b", "x"}
	rest := s
	for _, w := range want {
		var c string
		if c, rest, _ = NextCluster(rest); c != w {
			t.Errorf("cluster %+q, want %+q", c, w)
		}
	}
	if rest != "" {
		t.Errorf("%+q left", rest)
	}
}

func TestPrintable(t *testing.T) {
	for s, want := range map[string]string{
		"plain text":                              "plain text",
		"\x1b[31mred\x1b]0;t\x07":                 "\u241b[31mred\u241b]0;t\u2407",
		"a\r\nb\tc\x7f\x00":                       "a\u240d\u240ab\u2409c\u2421\u2400",
		"a\u009b31m\xff":                          "a\ufffd31m\ufffd",
		"abc\u202edcba\u2066x\u2069":              "abcdcbax",
		"z\u200bw\u200c\u200dx\ufeff\u2060\u00ad": "zwx",
		"\U0001f468\u200d\U0001f467 e\u0301":      "\U0001f468\u200d\U0001f467 e\u0301",
		"\u26a0\ufe0f":                            "\u26a0\ufe0f",
		"\u0301x":                                 "x",
		"tag\U000e0041\U000e007f":                 "tag",
		"\u3164\u115f\ue000":                      "",
		"Z" + strings.Repeat("\u0335", 20):        "Z" + strings.Repeat("\u0335", 4),
		"\u4f60\u597d":                            "\u4f60\u597d",
	} {
		if got := Printable(s); got != want {
			t.Errorf("%+q: %+q, want %+q", s, got, want)
		}
	}
}

func FuzzPrintable(f *testing.F) {
	f.Add("a\x1b[\u202e\u200d\U0001f468\u200d\U0001f467\xff")
	f.Fuzz(func(t *testing.T, s string) {
		p := Printable(s)
		for _, r := range p {
			if r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200b {
				t.Fatalf("%U got through", r)
			}
		}
		if again := Printable(p); again != p {
			t.Fatalf("%+q becomes %+q", p, again)
		}
		width := 0
		for rest := p; rest != ""; {
			c, next, w := NextCluster(rest)
			if c == "" || len(next) >= len(rest) {
				t.Fatal("no progress")
			}
			rest, width = next, width+w
		}
		if got := StringWidth(p); got != width {
			t.Fatalf("width %d, by clusters %d", got, width)
		}
	})
}
