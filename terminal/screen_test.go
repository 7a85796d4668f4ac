package terminal

import (
	"slices"
	"strings"
	"testing"
)

// TestScreens are sequences that the corpus does not hold, each with the rows
// it leaves on a screen of 10x4 and the cursor.
func TestScreens(t *testing.T) {
	for _, c := range []struct {
		in       string
		rows     string // joined by |, blank ones at the end left out
		row, col int
	}{
		{"abc\x1b[4;1Habc\x1b[2 @", "c|||c", 3, 3},
		{"abc\r\nabc\x1b[ A", " abc| abc", 1, 3},
		{"abc\r\nabc\x1b[1;2H\x1b[2'}", "a  bc|a  bc", 0, 1},
		{"abc\r\nabc\x1b[1;2H\x1b['~", "ac|ac", 0, 1},
		{"\x1b[?45h0123456789ab\b\b\bX", "012345678X|ab", 0, 9},
		{"0123456789ab\b\b\b\bX", "0123456789|Xb", 1, 1},
		{"\x1b[2I1\x1b[Z2", "        21", 0, 9},
		{"\x1b[3;5H\x1b[Ea\x1b[2Fb", "|b||a", 1, 1},
		{"a\x1b[31m\x1b[2b", "aaa", 0, 3},
		{"a\r\x1b[2b", "a", 0, 0},
		{"\u4f60\x1b[2b", "\u4f60\u4f60\u4f60", 0, 6},
		{"a\x1b[65535b", strings.Repeat("aaaaaaaaaa|", 3) + "a", 3, 1},
		{"a\u0301\x1b[1;1H\u0302", "a\u0301", 0, 0},
		{"a\u0301\x1b[1;2H\u0302", "a\u0301\u0302", 0, 1},
		{"\u26a0\ufe0fx", "\u26a0\ufe0fx", 0, 3},
		{"\x1b[1;10H\u26a0\ufe0fx", "         \u26a0\ufe0f|x", 1, 1},
		{"\x1b[?7l012345678\u4f60x", "012345678x", 0, 9},
		{"\x1b[4h\u4f60\u597d\u4e16\u754c\x1b[1;1Ha", "a\u4f60\u597d\u4e16\u754c", 0, 1},
		{"\x1b[4h0\u4f60\u597d\u4e16\u754c\x1b[1;1Ha", "a0\u4f60\u597d\u4e16\u754c", 0, 1},
		{"\x1b[4h01\u4f60\u597d\u4e16\u754c\x1b[1;1Ha", "a01\u4f60\u597d\u4e16", 0, 1},
		{"\x0e\x1b)0qx\x0fqx", "\u2500\u2502qx", 0, 4},
		{"\x1b*0\x1bnq\x1boq", "\u2500q", 0, 2},
		{"1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[?6h\x1b[9;1HX\x1b[6n", "1|2|X|4", 2, 1},
		{"1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[4;1H\n\nX", "1|2|3|X", 3, 1},
		{"\x1b[99999;99999r\x1b[4;4Hx", "|||   x", 3, 4},
		{"\x1b[2;2Hx\x1b[2147483647I\x1b[-5Py", "| x       y", 1, 9},
		{"e\u0301\x1b[b\x1b[2b", strings.Repeat("e\u0301", 4), 0, 4},
		{"\u26a0\ufe0f\x1b[2b", strings.Repeat("\u26a0\ufe0f", 3), 0, 6},
		{"\x1b[1;9He\u0301\x1b[2b", "        e\u0301e\u0301|e\u0301", 1, 1},
		{"ae\u0301\x1b[2;1Hb\x1b[2b", "ae\u0301|bbb", 1, 3},
		// Selective erases leave protected cells alone; other erases do not.
		{"ab\x1b[1\"qcd\x1b[0\"qef\r\x1b[?K", "  cd", 0, 0},
		{"ab\x1b[1\"qcd\x1b[2\"qef\x1b[1;4H\x1b[?1K", "  cdef", 0, 3},
		{"\x1b[1\"qab\x1b[0\"q\r\ncd\x1b[?2J", "ab", 1, 2},
		{"ab\r\ncd\x1b[1\"qe\x1b[0\"q\r\nfg\x1b[2;2H\x1b[?1J", "|  e|fg", 1, 1},
		{"ab\r\ncd\x1b[1\"qe\x1b[0\"q\r\nfg\x1b[2;2H\x1b[?J", "ab|c e", 1, 1},
		{"\x1b[1\"qab\x1b[0m\u4f60c\x1b[0\"qd\r\x1b[?K", "ab\u4f60c", 0, 0},
		{"\x1b[1\"qabcd\r\x1b[2X\x1b[1;4H\x1b[K", "  c", 0, 3},
		{"\x1b[1\"q\x1b7\x1b[0\"q\x1b8ab\r\x1b[?K", "ab", 0, 0},
		{"\x1b[1\"q\x1b[!pab\r\x1b[?K", "", 0, 0},
		{"\x1b[?45h\x1b[!p0123456789ab\b\b\b\bX", "0123456789|Xb", 1, 1},
		// VPR knows no margins, CUD does; origin mode holds both inside.
		{"\x1b[1;2r\x1b[1;3H\x1b[9eX", "|||  X", 3, 3},
		{"\x1b[1;2r\x1b[1;3H\x1b[9BX", "|  X", 1, 3},
		{"\x1b[2;3r\x1b[?6h\x1b[1;3H\x1b[9eX", "||  X", 2, 3},
		// A pending wrap is saved and restored with the cursor.
		{"0123456789\x1b7\x1b[1;1H\x1b8X", "0123456789|X", 1, 1},
		{"0123456789\x1b[?1049hx\x1b[?1049lX", "0123456789|X", 1, 1},
		{"012345678\x1b7\x1b[1;1H\x1b8X", "012345678X", 0, 10 - 1},
		{"a\x1b[1 b\x1b[?b\x1b[>b\x1b[1$b", "a", 0, 1},
	} {
		term := write(10, 4, c.in)
		if err := term.invariants(); err != nil {
			t.Errorf("%q: %v", c.in, err)
		}
		want := strings.Split(c.rows, "|")
		for len(want) < 4 {
			want = append(want, "")
		}
		for i := range want {
			want[i] = strings.TrimRight(want[i], " ")
		}
		s := term.Snapshot(0)
		if got := s.Text(); !slices.Equal(got, want[:4]) || s.Cursor.Row != c.row || s.Cursor.Col != c.col {
			t.Errorf("%q: %q, cursor %d,%d; want %q, %d,%d", c.in, got, s.Cursor.Row, s.Cursor.Col, want[:4], c.row, c.col)
		}
	}
}

// TestErasedEndsJoinNothing: a row whose end was erased is not joined with the one
// below when the screen becomes wider.
func TestErasedEndsJoinNothing(t *testing.T) {
	for _, erase := range []string{"\x1b[K", "\x1b[2K", "\x1b[5X", "\x1b[J"} {
		term := write(10, 4, "0123456789ab\x1b[1;6H"+erase+"\x1b[2;1Hcd")
		term.Resize(20, 4)
		want := "01234"
		if erase == "\x1b[2K" {
			want = ""
		}
		if got := term.Snapshot(0).Text(); got[0] != want || got[1] != "cd" {
			t.Errorf("%q: %q", erase, got)
		}
	}
}

func TestProtectionIsReported(t *testing.T) {
	var got strings.Builder
	term := New(Options{Cols: 20, Rows: 2, Handlers: Handlers{Reply: func(r []byte, _ int64) { got.Write(r) }}})
	query := "\x1bP$q\"q\x1b\\"
	term.Write([]byte(query + "\x1b[1\"q\x1b[0m" + query + "\x1b[2\"q" + query + "\x1b[1\"q\x1b[!p" + query))
	if want := "\x1bP1$r0\"q\x1b\\" + "\x1bP1$r1\"q\x1b\\" + "\x1bP1$r0\"q\x1b\\" + "\x1bP1$r0\"q\x1b\\"; got.String() != want {
		t.Errorf("%q, want %q", got.String(), want)
	}
}

// TestCheckpointKeepsProtection: what selective erases spare and a saved cursor's
// pending wrap are part of a checkpoint.
func TestCheckpointKeepsProtection(t *testing.T) {
	term := write(10, 2, "\x1b[1\"qab\x1b[0\"qcdefghij\x1b7\x1b[H\x1b[1\"q")
	again, err := Restore(Options{Now: fixedClock}, term.Checkpoint())
	if err != nil {
		t.Fatal(err)
	}
	again.Write([]byte("\x1b[?K\x1b8X"))
	if got := again.Snapshot(0).Text(); got[0] != "ab" || got[1] != "X" {
		t.Errorf("%q", got)
	}
}

func TestTabStopsFollowTheWidth(t *testing.T) {
	term := write(20, 3, "\x1b[1;4H\x1bH")
	term.Resize(40, 3)
	if got := term.Modes().Tabs; !slices.Equal(got, []int{3, 8, 16, 24, 32}) {
		t.Errorf("wider: %v", got)
	}
	term.Resize(10, 3)
	if got := term.Modes().Tabs; !slices.Equal(got, []int{3, 8}) {
		t.Errorf("narrower: %v", got)
	}
}

func TestSGR(t *testing.T) {
	for in, want := range map[string]Style{
		"1;2;3;4;5;7;8;9;53":             {Attr: Bold | Faint | Italic | Blink | Reverse | Hidden | Strike | Overline, Underline: SingleUnderline},
		"1;22;3;23;4;24;7;27;53;55":      {},
		"4:3":                            {Underline: CurlyUnderline},
		"4:0":                            {},
		"21":                             {Underline: DoubleUnderline},
		"31;42":                          {Fg: Palette(1), Bg: Palette(2)},
		"91;107":                         {Fg: Palette(9), Bg: Palette(15)},
		"38;5;200;48;2;1;2;3":            {Fg: Palette(200), Bg: RGB(1, 2, 3)},
		"38:5:200;48:2::1:2:3":           {Fg: Palette(200), Bg: RGB(1, 2, 3)},
		"38:2:1:2:3;1":                   {Fg: RGB(1, 2, 3), Attr: Bold},
		"4;58:2::1:2:3":                  {Underline: SingleUnderline, UnderlineColor: RGB(1, 2, 3)},
		"4;58;5;9":                       {Underline: SingleUnderline, UnderlineColor: Palette(9)},
		"58;5;9;59":                      {},
		"38;5;300;1":                     {Attr: Bold},
		"38;7;1":                         {Attr: Bold},
		"31;39;41;49;1;0":                {},
		"31;":                            {},
		strings.Repeat("1;", 100) + "31": {Attr: Bold},
	} {
		if got := write(20, 2, "\x1b["+in+"mx").Snapshot(0).Lines[0].Cell(0).Style; got != want {
			t.Errorf("%.40s: %+v, want %+v", in, got, want)
		}
		if again := write(20, 2, want.SGR()+"x").Snapshot(0).Lines[0].Cell(0).Style; again != want {
			t.Errorf("%.40s: SGR gives %+v, want %+v", in, again, want)
		}
	}
}

func TestColorReports(t *testing.T) {
	var got strings.Builder
	last := int64(-1)
	term := New(Options{Cols: 20, Rows: 2, Background: RGB(255, 255, 255), Handlers: Handlers{Reply: func(r []byte, at int64) {
		if got.Write(r); at <= last {
			t.Errorf("reply at %d after one at %d", at, last)
		}
		last = at
	}}})
	term.Write([]byte("\x1b]11;?\x07\x1b[?996n\x1b]11;#123456\x07\x1b]10;#fff;?\x07\x1b[?996n\x1b]4;7;rgb:1/2/3;7;?;300;?;1;?\x07\x1b]104\x07\x1b]4;7;?\x07"))
	want := "\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?997;2n\x1b]11;rgb:1212/3434/5656\x1b\\\x1b[?997;1n" +
		"\x1b]4;7;rgb:1111/2222/3333\x1b\\\x1b]4;1;rgb:cdcd/0000/0000\x1b\\\x1b]4;7;rgb:e5e5/e5e5/e5e5\x1b\\"
	if got.String() != want {
		t.Errorf("%q, want %q", got.String(), want)
	}
}
