package tui

import (
	"slices"
	"strings"

	"berth/terminal"
)

// cell is one column of a frame. It has 8 bytes, so the two frames of a dashboard of 200x60 take
// 192 KB.
type cell struct {
	ch    rune   // 0 is the right half of a wide character; negative: -1-index into the palette's clusters
	style uint16 // index into the palette's styles
	wide  bool

	target uint8 // 1+index into the frame's targets
}

// palette has the styles and clusters that the cells of frames refer to. A session's screen has a few
// dozen styles, and as many characters of more than one rune.
type palette struct {
	styles   []terminal.Style
	styleOf  map[terminal.Style]uint16
	clusters []string
	indexOf  map[string]rune
}

// paletteLimit is the maximum of styles or clusters. Above it, everything is drawn again with an empty
// palette.
const paletteLimit = 1 << 14

func newPalette() *palette {
	p := &palette{styleOf: map[terminal.Style]uint16{}, indexOf: map[string]rune{}}
	p.style(terminal.Style{})
	return p
}

func (p *palette) full() bool {
	return len(p.styles) >= paletteLimit || len(p.clusters) >= paletteLimit
}

func (p *palette) style(s terminal.Style) uint16 {
	if n, ok := p.styleOf[s]; ok {
		return n
	}
	if len(p.styles) >= 1<<16-1 {
		return 0
	}
	n := uint16(len(p.styles))
	p.styles = append(p.styles, s)
	p.styleOf[s] = n
	return n
}

func (p *palette) cluster(s string) rune {
	if n, ok := p.indexOf[s]; ok {
		return n
	}
	p.clusters = append(p.clusters, s)
	n := rune(-len(p.clusters))
	p.indexOf[s] = n
	return n
}

// cell is c as terminal/paint writes it to the client.
func (p *palette) cell(c cell) terminal.Cell {
	out := terminal.Cell{Rune: c.ch, Width: 1, Style: p.styles[c.style]}
	switch {
	case c.ch == 0:
		out.Width = 0
	case c.wide:
		out.Width = 2
	}
	if c.ch < 0 {
		out.Show(p.clusters[-c.ch-1])
	}
	return out
}

// Frame is a picture of the dashboard. All text is made printable before it is drawn. Besides it only
// cells of a session's screen, which the emulator has made, are drawn.
type Frame struct {
	cols, rows int
	cells      []cell
	palette    *palette
	ascii      bool // the client's terminal knows only ASCII
	cursor     terminal.Cursor
	targets    []target // what its cells do under the mouse
}

// NewFrame returns an empty picture.
func NewFrame(cols, rows int) *Frame {
	f := &Frame{palette: newPalette()}
	f.resize(cols, rows)
	return f
}

func (f *Frame) resize(cols, rows int) {
	if n := cols * rows; cap(f.cells) >= n && cap(f.cells) < 2*n {
		f.cells = f.cells[:n]
	} else {
		f.cells = make([]cell, n)
	}
	f.cols, f.rows = cols, rows
	f.clear()
}

func (f *Frame) clear() {
	for i := range f.cells {
		f.cells[i] = cell{ch: ' '}
	}
	f.cursor, f.targets = terminal.Cursor{}, f.targets[:0]
}

// area is a part of a frame, with its own coordinates from 0.
type area struct {
	*Frame
	x, y, w, h int
}

func (f *Frame) all() area { return area{f, 0, 0, f.cols, f.rows} }

// part is the area within a whose first cell is x, y.
func (a area) part(x, y, w, h int) area {
	x, y = min(max(x, 0), a.w), min(max(y, 0), a.h)
	return area{a.Frame, a.x + x, a.y + y, min(max(w, 0), a.w-x), min(max(h, 0), a.h-y)}
}

func (a area) at(x, y int) *cell { return &a.cells[(a.y+y)*a.cols+a.x+x] }

// text writes s from column x on, up to the column before end. A negative end is the area's. Text that
// doesn't fit is cut and ends in an ellipsis. It returns the column after the text.
func (a area) text(x, y, end int, st terminal.Style, s string) int {
	if end < 0 || end > a.w {
		end = a.w
	}
	if y < 0 || y >= a.h || x >= end {
		return x
	}
	s = terminal.Printable(s)
	if terminal.StringWidth(s) > end-x {
		s = cut(s, end-x, a.ellipsis())
	}
	return a.put(x, y, end, st, s)
}

func (a area) put(x, y, end int, st terminal.Style, s string) int {
	style := a.palette.style(st)
	for s != "" && x < end {
		var cluster string
		var width int
		cluster, s, width = terminal.NextCluster(s)
		if width == 0 || x+width > end {
			continue
		}
		var shown terminal.Cell
		shown.Show(cluster)
		c := cell{ch: shown.Rune, style: style, wide: width == 2, target: a.at(x, y).target}
		if shown.Rest != "" {
			c.ch = a.palette.cluster(cluster)
		}
		*a.at(x, y) = c
		if width == 2 {
			*a.at(x+1, y) = cell{style: style, target: c.target}
		}
		x += width
	}
	return x
}

// right writes s so that it ends at column end, and returns its first column.
func (a area) right(end, y int, st terminal.Style, s string) int {
	s, end = terminal.Printable(s), min(end, a.w)
	x := max(end-terminal.StringWidth(s), 0)
	a.put(x, y, end, st, s)
	return x
}

// fill gives a row's blanks a style, such as a background.
func (a area) fill(y int, st terminal.Style) {
	if y < 0 || y >= a.h {
		return
	}
	style := a.palette.style(st)
	for x := range a.w {
		*a.at(x, y) = cell{ch: ' ', style: style}
	}
}

// line draws a horizontal line.
func (a area) line(y int, st terminal.Style) {
	if y < 0 || y >= a.h {
		return
	}
	a.put(0, y, a.w, st, strings.Repeat(a.glyph("─", "-"), a.w))
}

// Numbers that are drawn in place of characters that a row's end would hide.
const (
	aBlank   = "⟨U+0020⟩"
	aLineEnd = "⟨U+000A⟩"
)

// lay breaks a text that a person decides by into rows, so that no two texts have the same rows. Where
// the end of a row could be a blank, a line's end is drawn as its number, and so are blanks before it.
func (m *Model) lay(text string, width int) []string {
	width = max(width, 1)
	gap := strings.Repeat(" ", max(width-1, 1))
	lines := strings.Split(terminal.Reveal(text, m.theme.ascii), "\n")
	broken := make([][]string, len(lines))
	for i := len(lines) - 1; i >= 0; i-- { // from the last: its marks can make a line's first word longer
		line := lines[i]
		if bare, blanks := strings.CutSuffix(line, " "); blanks {
			line = bare + aBlank
		}
		// A row of blanks alone would look empty.
		lines[i] = terminal.Printable(strings.ReplaceAll(line, gap, strings.Repeat(aBlank, len(gap))))
		broken[i] = wrapLine(lines[i], width)
		if i == len(lines)-1 {
			continue
		}
		row, next := broken[i][len(broken[i])-1], strings.TrimLeft(lines[i+1], " ")
		indent := len(lines[i+1]) - len(next)
		word, _, _ := strings.Cut(next, " ")
		if row != "" && word != "" && terminal.StringWidth(row)+1+indent+terminal.StringWidth(word) > width {
			lines[i] += aLineEnd
			broken[i] = wrapLine(lines[i], width)
		}
	}
	return slices.Concat(broken...)
}

func (f *Frame) ellipsis() string { return f.glyph("…", "~") }

// glyph is a character, or its substitute if the terminal knows only ASCII.
func (f *Frame) glyph(s, ascii string) string {
	if f.ascii {
		return ascii
	}
	return s
}

// cut shortens printable text to a width, including the ellipsis.
func cut(s string, width int, ellipsis string) string {
	if terminal.StringWidth(s) <= width {
		return s
	}
	if width <= 0 {
		return ""
	}
	var b strings.Builder
	for left := width - 1; s != ""; {
		cluster, rest, w := terminal.NextCluster(s)
		if w > left {
			break
		}
		b.WriteString(cluster)
		s, left = rest, left-w
	}
	return b.String() + ellipsis
}

// wrap breaks text into lines of at most width columns, at blanks if possible. It keeps line ends.
func wrap(text string, width int) []string {
	width = max(width, 1)
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, wrapLine(terminal.Printable(strings.TrimSuffix(line, "\r")), width)...)
	}
	return lines
}

func wrapLine(line string, width int) []string {
	var lines []string
	for {
		at, blank, used := 0, 0, 0
		for at < len(line) {
			cluster, _, w := terminal.NextCluster(line[at:])
			if used+w > width {
				break
			}
			at, used = at+len(cluster), used+w
			if cluster == " " {
				blank = at
			}
		}
		if at == len(line) {
			return append(lines, line)
		}
		if line[at] == ' ' {
			blank = at
		}
		if used == 0 || strings.TrimLeft(line[:blank], " ") == "" {
			blank = max(at, 1) // a row of blanks alone would not show how many
		}
		row, next := strings.TrimRight(line[:blank], " "), strings.TrimLeft(line[blank:], " ")
		kept := len(line) - len(row) - len(next) - 1 // blanks, except the one that the row's end stands for
		if !strings.Contains(strings.TrimLeft(row, " "), " ") && terminal.StringWidth(row) >= width-1 {
			kept++ // otherwise the row would look like the start of a longer word
		}
		if row != "" && kept > 0 {
			next = line[len(line)-len(next)-kept:]
		}
		lines, line = append(lines, row), next
	}
}
