package attach

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/terminal"
	"berth/terminal/keyboard"
)

// pagerOf is a pager in a window over what a program has printed to a screen.
func pagerOf(cols, rows, winCols, winRows int, printed string) *pager {
	t := terminal.New(terminal.Options{Cols: cols, Rows: rows, Scrollback: pagerHistory})
	_, _ = t.Write([]byte(strings.ReplaceAll(printed, "\n", "\r\n")))
	return newPager(t.Snapshot(pagerHistory), winCols, winRows)
}

func (p *pager) keys(names ...string) {
	for _, name := range names {
		for _, k := range keyboard.Keys([]byte(name)) {
			p.press(k)
		}
	}
}

// copied is what the pager has copied since it was last asked.
func (p *pager) copied(t *testing.T) string {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(p.clip, "c;"))
	if err != nil {
		t.Fatal(err)
	}
	p.clip = ""
	return string(data)
}

func TestPagerFinds(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	p := pagerOf(20, 5, 40, 10, "Needle at the top\n"+b.String()+"a needle\n"+b.String())
	for _, c := range []struct {
		keys string
		line int // of the hit, -1 for none
		said string
	}{
		{"/needle\r", 101, ""},
		{"n", 0, ""},
		{"n", 101, "found past the end: needle"},
		{"N", 0, "found past the end: needle"},
		{"N", 101, ""},
		{"/Needle\r", 0, ""},
		{"n", 0, "found past the end: Needle"},
		{"/\r", 0, ""},
		{"G/line 9\r", 201, ""},
		{"n", 200, ""},
		{"gN", 10, ""},
		{"/nowhere\r", -1, "not found: nowhere"},
		{"G/needlf\x7fe\r", 101, ""},
		{"/x\x15\x7f", 101, ""},
		{"/nothing\x1b", 101, ""},
		{"n", 0, ""},
	} {
		p.keys(c.keys)
		line := -1
		if p.hit.ok {
			line = p.hit.line
		}
		if line != c.line || p.said != c.said || line >= 0 && !p.shown(line) {
			t.Errorf("%q: line %d, %q; want %d, %q; shown %d to %d", c.keys, line, p.said, c.line, c.said, p.top, p.bottom())
		}
	}
}

// Text is found across a wrap, with wide characters, marks and the gap before a wide one that did not fit;
// the cells of exactly that are highlighted, and it is copied as it was printed.
func TestPagerFindsAcrossTheWrap(t *testing.T) {
	for _, c := range []struct {
		printed, find, hit string
	}{
		{"0123456789abcdef", "89ab", "0:8 to 1:2"},
		{"012345678你好ab", "8你好a", "0:8 to 1:5"},
		{"你好你好你好你好", "好你好", "0:2 to 0:8 1:0 to 1:6"},
		{"012345678e\u0301X", "8E", ""},
		{"012345678e\u0301X", "8e\u0301x", "0:8 to 1:1"},
		{"aaaaaaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaa", "0:0 to 1:2 1:2 to 2:4"},
		{"01234567 9 b", " 9 b", "0:8 to 1:2"},
		{"İstanbul", "st", "0:1 to 0:3"},
	} {
		p := pagerOf(10, 8, 10, 9, c.printed)
		var hits []string
		for _, h := range p.hits(0, c.find, c.find == strings.ToLower(c.find)) {
			hits = append(hits, fmt.Sprintf("%d:%d to %d:%d", h.line, h.from, h.end, h.to))
		}
		if got := strings.Join(hits, " "); got != c.hit {
			t.Errorf("%q in %q: %s, want %s", c.find, c.printed, got, c.hit)
		}
		if p.find = c.find; c.hit != "" {
			p.keys("ny")
			if got := p.copied(t); got != c.printed {
				t.Errorf("copied %q of %q", got, c.printed)
			}
		}
	}
}

func TestPagerCopies(t *testing.T) {
	p := pagerOf(10, 4, 40, 10, "one\ntwo is wrapped  \nthree\n\n\x1b[31mfour\n")
	p.keys("y")
	if p.clip != "" || p.said != "nothing marked: v marks lines" {
		t.Errorf("%q, %q", p.clip, p.said)
	}
	p.keys("v", "k", "k", "k", "k", "y")
	if got, want := p.copied(t), "two is wrapped\nthree\n\nfour"; got != want {
		t.Errorf("%q, want %q; %s", got, want, p.said)
	}
	p.keys("v", "g")
	p.keys("\x1b", "y")
	if p.clip != "" {
		t.Error("marks that were given up are copied")
	}
	p = pagerOf(100, 4, 40, 10, strings.Repeat(strings.Repeat("x", 99)+"\n", 600))
	p.keys("vgy")
	if p.clip != "" || !strings.HasPrefix(p.said, "not copied: more than 48 KB") {
		t.Errorf("%d bytes, %q", len(p.clip), p.said)
	}
}

// Prompts that a shell has marked are gone to, also after the history was wrapped anew and after a
// checkpoint. An erased one is none.
func TestPagerGoesToPrompts(t *testing.T) {
	term := terminal.New(terminal.Options{Cols: 30, Rows: 5, Scrollback: 1000})
	for i := range 30 {
		fmt.Fprintf(term, "\x1b]133;A;cl=line\x07$ \x1b]133;B\x07command %d\x1b]133;C\x07\r\n%s\r\n\x1b]133;D;0\x07", i, strings.Repeat("output ", 10))
	}
	fmt.Fprintf(term, "\x1b]133;A\x07\x1b[2Kerased\r\n")
	term.Resize(20, 5)
	term, err := terminal.Restore(terminal.Options{Scrollback: 1000}, term.Checkpoint())
	if err != nil {
		t.Fatal(err)
	}
	p := newPager(term.Snapshot(1000), 20, 11)
	at := func() string { return p.text(p.hit.line, p.hit.line) }
	for _, c := range []struct{ key, text string }{
		{"[", "$ command 28"}, {"[", "$ command 27"}, {"]", "$ command 28"}, {"]", "$ command 29"},
		{"]", "$ command 29"}, {"g", "$ command 29"}, {"]", "$ command 1"}, {"[", "$ command 0"},
	} {
		p.keys(c.key)
		if at() != c.text {
			t.Errorf("%s: %q, want %q", c.key, at(), c.text)
		}
	}
	if p.keys("["); !strings.HasPrefix(p.said, "no prompt there") {
		t.Errorf("%q", p.said)
	}
}

// A turn begins at the first line that was printed after its message was typed, also if the agent draws its
// composer below over and over.
func TestPagerGoesToTurns(t *testing.T) {
	term := terminal.New(terminal.Options{Cols: 30, Rows: 6, Scrollback: 1000})
	fmt.Fprint(term, "welcome\r\n\r\n> composer")
	for i := range 9 {
		term.MarkTurn(term.Offset())
		fmt.Fprintf(term, "\r\x1b[2K\x1b[A> message %d\r\n%s\r\n> composer", i, strings.Repeat("answer\r\n", 5))
		term.MarkTurn(term.Offset() - 3) // a draft is typed
	}
	term.MarkTurn(1) // an older one is none
	p := newPager(term.Snapshot(1000), 30, 9)
	for _, c := range []struct{ key, text string }{{"{", "> message 7"}, {"{", "> message 6"}, {"}", "> message 7"}, {"}", "> message 8"}} {
		p.keys(c.key)
		if got := p.lines[p.hit.line].Text(); got != c.text {
			t.Errorf("%s: %q, want %q", c.key, got, c.text)
		}
	}
	p.keys("g", "{")
	if p.said == "" {
		t.Error("there is a turn before the first")
	}
}

// A search through as much history as a pager has takes a time in proportion to it, also when a program has
// made all of it one line: half a second on an idle machine. The limit is what a busy machine with the race
// detector needs; work that is quadratic takes hours.
func TestPagerIsFast(t *testing.T) {
	for name, printed := range map[string]string{
		"lines":    strings.Repeat("a line of a log that has some sixty characters of text in it\n", pagerHistory),
		"one line": strings.Repeat("x", 80*pagerHistory),
	} {
		p := pagerOf(80, 24, 80, 24, printed)
		began := time.Now()
		p.keys("/not in it\r", "g", "[", "]")
		if d := time.Since(began); d > 3*time.Minute || len(p.lines) < pagerHistory {
			t.Errorf("%s: %s for %d lines", name, d, len(p.lines))
		} else {
			t.Logf("%s: %s for %d lines", name, d, len(p.lines))
		}
	}
}
