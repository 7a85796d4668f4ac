package terminal

import (
	"slices"
	"strings"
	"testing"
)

// passed is what clients get of input.
func passed(o Options, input string) string {
	o.Cols, o.Rows = 40, 5
	t := New(o)
	t.SetPass(true)
	t.Write([]byte(input))
	return string(t.TakePass())
}

func TestPassPolicy(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain \u4f60\r\n", "plain \u4f60\r\n"},
		{"\x1b[1;31mred\x1b[0m", "\x1b[1;31mred\x1b[0m"},
		// Queries.
		{"a\x1b[c\x1b[>c\x1b[=c\x1b[6n\x1b[?6n\x1b[5n\x1b[?25$p\x1b[4$p\x1b[>q\x1b[>0q\x1b[?u\x1b[?4m\x1b[?996n\x1b[18t\x1b[14t\x1b[21t\x1b[x\x1bZ\x05b", "ab"},
		{"a\x1b]10;?\x07\x1b]11;?\x1b\\\x1b]4;1;?;2;?\x07\x1b]52;c;?\x07b", "ab"},
		// Strings.
		{"a\x1bPq~~~\x1b\\\x1b_Gi=1;AAAA\x1b\\\x1b^pm\x1b\\\x1bXsos\x1b\\\x1bPtmux;\x1b\x1b[c\x1b\\b", "a[image]\r\nb"},
		{"a\x1b]1337;File=x\x07\x1b]50;font\x07\x1b]777x\x07\x1b];\x07b", "ab"},
		// The clipboard.
		{"\x1b]52;c;aGk=\x07", ""},
		// Links.
		{"\x1b]8;id=1;https://e.com/a\x07l\x1b]8;;\x07", "\x1b]8;;https://e.com/a\x1b\\l\x1b]8;;\x1b\\"},
		{"\x1b]8;;file:///etc/passwd\x07l\x1b]8;;javascript:x\x07", "\x1b]8;;\x1b\\l\x1b]8;;\x1b\\"},
		{"\x1b]8;;https://e.com/\u202e\x07", "\x1b]8;;\x1b\\"},
		// Titles and notices, cleaned and capped.
		{"\x1b]0;a\x01b\u202ec\xff\x07", "\x1b]2;abc\x1b\\"},
		{"\x1b]2;" + strings.Repeat("\u4f60", 300) + "\x07", "\x1b]2;" + strings.Repeat("\u4f60", 256) + "\x1b\\"},
		{"\x1b]9;done\u200b\x01\x07\x1b]777;notify;t;b\x1b\\", "\x1b]9;done\x1b\\\x1b]777;notify;t;b\x1b\\"},
		{"\x1b]133;A\x07\x1b]7;file://h/d\x07\x1b]99;i=1;x\x07\x1b]7501;s\x07", ""},
		// Modes, one by one, only those known.
		{"\x1b[?1049;2004;9999;2031;1005h", "\x1b[?1049h\x1b[?6l\x1b[r\x1b[?5l\x1b[?7h\x1b[0m\x1b]8;;\x1b\\\x1b[1;1H\x1b[?2004h"},
		{"\x1b[4;99h", "\x1b[4h"},
		// Numbers out of bounds, sequences malformed or unknown.
		{"\x1b[99999999999999999999A", "\x1b[65535A"},
		{"\x1b[5i\x1b[1?25h\x1b[>1;2p\x1b[2J\x1b[1y\x1b#3\x1b G\x1b%G\x1b[;H", "\x1b[2J\x1b[;H"},
		{"\x1b[" + strings.Repeat("1", 5000) + "mx", "x"},
		// The client's tab stops, charsets and title stack are its own.
		{"a\tb\x1b[Ic\x1b[Z", "a\x1b[9Gb\x1b[17Gc\x1b[17G"},
		{"\x1b(0qx\x0e\x0f\x1b(Bq", "\u2500\u2502q"},
		{"\x1b[22;0t\x1b]0;x\x07\x1b[23;0t", "\x1b]2;x\x1b\\\x1b]2;\x1b\\"},
		// Nothing of the client's own is popped.
		{"\x1b[<u\x1b[>5u\x1b[<9u", "\x1b[>5u\x1b[<1u"},
		{"\x1b[=3u", "\x1b[>0u\x1b[=3u"},
		{"\x1b[?1049h\x1b[>1u\x1b[?1049l", "\x1b[?1049h\x1b[?6l\x1b[r\x1b[?5l\x1b[?7h\x1b[0m\x1b]8;;\x1b\\\x1b[1;1H\x1b[>1u\x1b[<1u\x1b[?1049l\x1b[?6l\x1b[r\x1b[?5l\x1b[?7h\x1b[0m\x1b]8;;\x1b\\\x1b[1;1H"},
		// A column is sent after what terminals take for differently wide.
		{"\u26a0\ufe0fx\u26a0\ufe0f\x1b[1m \U0001f44d\U0001f3fd\x1b[2C\u4f60e\u0301x", "\u26a0\ufe0f\x1b[3Gx\u26a0\ufe0f\x1b[1m\x1b[6G \U0001f44d\U0001f3fd\x1b[9G\x1b[2C\u4f60e\u0301x"},
		// Colours, in a form of our own.
		{"\x1b]11;#102030\x07\x1b]4;1;rgb:1/2/3;2;?\x07\x1b]104;1\x07\x1b]111\x07", "\x1b]11;rgb:1010/2020/3030\x1b\\\x1b]4;1;rgb:1111/2222/3333\x1b\\\x1b]104;1\x1b\\\x1b]111\x1b\\"},
		// Bytes that aren't UTF-8, and C1 controls.
		{"a\xff\x9b31m\xc2\x9b31mb", "a31m31mb"},
	} {
		if got := passed(Options{}, c.in); got != c.want {
			t.Errorf("%.60q: passed %q, want %q", c.in, got, c.want)
		}
	}
}

// What a program writes to the clipboard goes to the handler: no query, nothing that isn't base64, and
// nothing that is too long.
func TestClipboard(t *testing.T) {
	var writes []string
	o := Options{Handlers: Handlers{Clipboard: func(write string) { writes = append(writes, write) }}}
	in := "\x1b]52;c;aGk=\x07\x1b]52;c;?\x07\x1b]52;c;a\x01k=\x07\x1b]52;zz;aGk=\x07\x1b]52;;eA==\x1b\\\x1b]52;c;" + strings.Repeat("A", maxString) + "\x07"
	if got := passed(o, in); got != "" {
		t.Errorf("clients are passed %q", got)
	}
	if want := []string{"c;aGk=", ";eA=="}; !slices.Equal(writes, want) {
		t.Errorf("%q", writes)
	}
}

func TestPassIsCutBetweenSequences(t *testing.T) {
	term := New(Options{Cols: 40, Rows: 5})
	term.SetPass(true)
	var pieces []string
	for _, b := range []byte("a\x1b[31mb\u4f60\x1b]0;t\x07") {
		term.Write([]byte{b})
		if piece := term.TakePass(); len(piece) > 0 {
			pieces = append(pieces, string(piece))
		}
	}
	if got := strings.Join(pieces, "|"); got != "a|\x1b[31m|b|\u4f60|\x1b]2;t\x1b\\" {
		t.Errorf("%q", got)
	}
}

func TestPassNobodyTakesBecomesARepaint(t *testing.T) {
	term := New(Options{Cols: 40, Rows: 5, Scrollback: 10})
	term.SetPass(true)
	for range 70_000 {
		term.Write([]byte("a line of text that is as long as lines of text may well be, and more\r\n"))
	}
	out := term.TakePass()
	if len(out) > 64<<10 {
		t.Fatalf("%d bytes", len(out))
	}
	viewer := New(Options{Cols: 40, Rows: 5})
	viewer.Write([]byte("\x1b[?1049hold"))
	viewer.Write(out)
	term.Write([]byte("after"))
	viewer.Write(term.TakePass())
	if diff := samePicture(viewer.Snapshot(0), term.Snapshot(0)); diff != "" {
		t.Error(diff)
	}
}
