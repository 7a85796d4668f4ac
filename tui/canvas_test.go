package tui

import (
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"berth/terminal"
)

// TestFrameIsAScreen: text that lipgloss renders is drawn within its area.
func TestFrameIsAScreen(t *testing.T) {
	f := NewFrame(20, 4)
	style := lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Color("203")).Background(lipgloss.Color("#102030"))
	f.all().part(2, 1, 6, 2).draw(style.Render("漢字 e\u0301👩‍👩‍👧x") + "\n" + "plain and long")
	if got := strings.Join(f.Text(), "|"); got != "|  漢字 e\u0301|  plain|" {
		t.Errorf("it shows %q", got)
	}
	at := f.all().at(2, 1)
	if got, want := f.palette.styles[at.style], (terminal.Style{Fg: terminal.Palette(203), Bg: terminal.RGB(0x10, 0x20, 0x30), Attr: terminal.Bold}); got != want {
		t.Errorf("with %+v", got)
	}
	if c := f.CellAt(2, 1); c.Content != "漢" || c.Width != 2 || cellStyle(c.Style) != f.palette.styles[at.style] {
		t.Errorf("CellAt returns %+v", c)
	}
	if f.CellAt(20, 0) != nil || f.CellAt(0, -1) != nil {
		t.Error("there are cells outside of the frame")
	}
	// Overwriting half of a wide cluster removes the other half.
	f.SetCell(3, 1, &uv.Cell{Content: "a", Width: 1})
	f.SetCell(4, 1, nil)
	if got := f.Text()[1]; got != "   a   e\u0301" {
		t.Errorf("it shows %q", got)
	}
	f.SetCell(30, 1, &uv.Cell{Content: "a", Width: 1})
}

// TestScreenIsSafe: text that a terminal would not draw as one cluster of its width doesn't become a
// cell.
func TestScreenIsSafe(t *testing.T) {
	f := NewFrame(30, 1)
	f.all().draw("a\x1b]0;evil\x07\x1b]8;;file:///etc\x1b\\link\x1b]8;;\x1b\\\u202eb\x1b[8mhid\x1b[5m\x1b[28mblink\x1b[0m\x9b31m\x01z")
	for _, c := range f.cells {
		if st := f.palette.styles[c.style]; st.Link != "" || st.Attr&(terminal.Hidden|terminal.Blink) != 0 {
			t.Errorf("a cell has %+v", st)
		}
	}
	all := f.Text()[0]
	if terminal.Printable(all) != all || !strings.Contains(all, "blink") || strings.Contains(all, "hid") {
		t.Errorf("it shows %q", all)
	}
	f.SetCell(0, 0, &uv.Cell{Content: "two", Width: 1})
	f.SetCell(1, 0, &uv.Cell{Content: "漢", Width: 1})
	f.SetCell(2, 0, &uv.Cell{Content: "\x1b[2J", Width: 4})
	if got := f.Text()[0]; !strings.HasPrefix(got, "\uFFFD\uFFFD\uFFFD") {
		t.Errorf("it shows %q", got)
	}
}
