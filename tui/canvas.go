package tui

import (
	"image/color"

	"charm.land/lipgloss/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"berth/terminal"
)

// A Frame and each of its areas implement ultraviolet's Screen, so that strings of lipgloss and
// bubbles can be drawn into them. terminal/paint writes the cells to the client.
var (
	_ uv.Screen = (*Frame)(nil)
	_ uv.Screen = area{}
)

// Bounds are the frame's columns and rows.
func (f *Frame) Bounds() uv.Rectangle { return uv.Rect(0, 0, f.cols, f.rows) }

// WidthMethod measures by clusters, as terminal.StringWidth does.
func (f *Frame) WidthMethod() uv.WidthMethod { return ansi.GraphemeWidth }

// CellAt is a copy of a cell; nil outside of the frame.
func (f *Frame) CellAt(x, y int) *uv.Cell {
	if !uv.Pos(x, y).In(f.Bounds()) {
		return nil
	}
	c := f.palette.cell(f.cells[y*f.cols+x])
	if c.Width == 0 {
		return &uv.Cell{} // the right half of a wide cluster
	}
	return &uv.Cell{Content: string(c.Rune) + c.Rest, Width: c.Width, Style: uvStyle(c.Style)}
}

// SetCell draws one cluster. It draws U+FFFD for text that a terminal would not draw in exactly
// c.Width columns, blanks for concealed text, and no links.
func (f *Frame) SetCell(x, y int, c *uv.Cell) { f.all().SetCell(x, y, c) }

// Bounds are the area's place in its frame.
func (a area) Bounds() uv.Rectangle { return uv.Rect(a.x, a.y, a.w, a.h) }

// SetCell is Frame.SetCell within the area; x and y are the frame's.
func (a area) SetCell(x, y int, c *uv.Cell) {
	if !uv.Pos(x, y).In(a.Bounds()) {
		return
	}
	x, y = x-a.x, y-a.y
	if c == nil {
		c = &uv.EmptyCell
	}
	if c.Width <= 0 {
		return
	}
	text := c.Content
	if ascii := len(text) == 1 && c.Width == 1 && text[0] >= ' ' && text[0] < 0x7f; !ascii {
		if _, rest, width := terminal.NextCluster(text); rest != "" || width != c.Width || terminal.Printable(text) != text {
			text = "\uFFFD"
		}
	}
	if c.Style.Attrs&uv.AttrConceal != 0 {
		text = ""
	}
	for i := x; i < min(x+c.Width, a.w); i++ {
		a.blank(i, y)
	}
	a.put(x, y, min(x+c.Width, a.w), cellStyle(c.Style), text)
}

// blank makes a column blank, and with it the other half of a wide cluster.
func (a area) blank(x, y int) {
	switch c := a.at(x, y); {
	case c.ch == 0 && x > 0:
		a.at(x-1, y).ch, a.at(x-1, y).wide = ' ', false
	case c.wide && x+1 < a.w:
		a.at(x+1, y).ch = ' '
	}
	*a.at(x, y) = cell{ch: ' ', target: a.at(x, y).target}
}

// draw draws a string with escape sequences, as lipgloss renders it. It cuts lines that are too long.
func (a area) draw(rendered string) { uv.NewStyledString(rendered).Draw(a, a.Bounds()) }

// attrs are the attributes that are drawn. Blinking text is drawn steady.
var attrs = map[terminal.Attr]uint8{
	terminal.Bold: uv.AttrBold, terminal.Faint: uv.AttrFaint, terminal.Italic: uv.AttrItalic, terminal.Reverse: uv.AttrReverse, terminal.Strike: uv.AttrStrikethrough,
}

func cellStyle(s uv.Style) terminal.Style {
	if s.IsZero() {
		return terminal.Style{}
	}
	out := terminal.Style{
		Fg: cellColor(s.Fg), Bg: cellColor(s.Bg), UnderlineColor: cellColor(s.UnderlineColor), Underline: terminal.Underline(s.Underline),
	}
	for ours, theirs := range attrs {
		if s.Attrs&theirs != 0 {
			out.Attr |= ours
		}
	}
	return out
}

func uvStyle(s terminal.Style) uv.Style {
	out := uv.Style{Fg: uvColor(s.Fg), Bg: uvColor(s.Bg), UnderlineColor: uvColor(s.UnderlineColor), Underline: uv.Underline(s.Underline)}
	for ours, theirs := range attrs {
		if s.Attr&ours != 0 {
			out.Attrs |= theirs
		}
	}
	return out
}

// uvColor is nil for the terminal's own colour.
func uvColor(c terminal.Color) color.Color {
	if c == terminal.DefaultColor {
		return nil
	}
	return c
}

func cellColor(c color.Color) terminal.Color {
	switch c := c.(type) {
	case nil, lipgloss.NoColor:
		return terminal.DefaultColor
	case terminal.Color:
		return c
	case ansi.BasicColor:
		return terminal.Palette(uint8(c))
	case ansi.IndexedColor:
		return terminal.Palette(uint8(c))
	}
	r, g, b, _ := c.RGBA()
	return terminal.RGB(uint8(r>>8), uint8(g>>8), uint8(b>>8))
}
