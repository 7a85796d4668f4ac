package tui

import (
	"strings"
	"testing"

	"berth/terminal"
	"berth/terminal/keyboard"
	"berth/terminal/paint"
)

// longText is 10 KB of Japanese in two lines, and a line whose width is hard to measure.
var longText = strings.Repeat("日本語の文章を貼り付けます。", 120) + "\n" + strings.Repeat("長い行です", 330) + "\n👩‍👩‍👧 e\u0301 🇩🇪\tx"

// TestPasteInPieces: a bracketed paste that arrives in pieces is one key. Its line ends send nothing,
// and the text is sent unchanged.
func TestPasteInPieces(t *testing.T) {
	m := asking(80, 24, permission())
	m.world.Sessions[0].Driven = true
	press(m, later, "m")
	var d keyboard.Decoder
	all := []byte(keyboard.PasteStart + strings.ReplaceAll(longText, "\n", "\r") + keyboard.PasteEnd + "漢")
	for len(all) > 0 {
		n := min(997, len(all))
		d.Feed(all[:n])
		all = all[n:]
		for k, ok := d.Next(); ok; k, ok = d.Next() {
			if e := m.Press(k, later); e != nil {
				t.Fatalf("%q does %v", k.Name, e)
			}
		}
	}
	sc := newScreen(paint.Look{Depth: paint.DepthTrue, UTF8: true})
	sc.resize(80, 24)
	term := terminal.New(terminal.Options{Cols: 80, Rows: 24})
	term.Write(sc.draw(m))
	cur := term.Cursor()
	if cur.Row != sc.cursor.Row || cur.Col != sc.cursor.Col || !cur.Visible {
		t.Errorf("the cursor is at %+v, and should be at %+v", cur, sc.cursor)
	}
	line := term.Snapshot(0).Lines[cur.Row]
	if row, want := line.Text(), "👩‍👩‍👧 e\u0301 🇩🇪␉x漢"; strings.TrimSpace(row) != want || cur.Col != 1+terminal.StringWidth(want) {
		t.Errorf("column %d of %q", cur.Col, row)
	}
	// Backspace removes what a person sees as one character.
	for _, left := range []string{"␉x", "␉", "", " e\u0301 ", " e\u0301", " "} {
		if m.Press(Key{Name: "backspace"}, later); left != "" && !strings.HasSuffix(strings.ReplaceAll(m.editor.text, "\t", "␉"), left) {
			t.Errorf("%q is left", m.editor.text[len(m.editor.text)-20:])
		}
	}
	m.Press(Key{Name: "ctrl+u"}, later)
	m.Press(Key{Name: "paste", Text: "👩‍👩‍👧 e\u0301 🇩🇪\tx"}, later)
	if got, in := ran(t, press(m, later, "enter")); got != "nudge --queue id-alpha -" || in != longText {
		t.Errorf("runs %q with %d bytes of %d", got, len(in), len(longText))
	}
}

// BenchmarkEditor types a character after 10 KB of text, and draws.
func BenchmarkEditor(b *testing.B) {
	m := asking(80, 24, permission())
	m.world.Sessions[0].Driven = true
	press(m, later, "m")
	m.Press(Key{Name: "paste", Text: longText}, later)
	f := NewFrame(80, 24)
	from := processor(b)
	for range b.N {
		m.Press(Key{Name: "x", Text: "x"}, later)
		m.Press(Key{Name: "backspace"}, later)
		m.Draw(f)
	}
	b.ReportMetric(float64((processor(b)-from).Microseconds())/float64(b.N), "cpu-µs/op")
}
