package tui

import (
	"strings"

	"berth/terminal"
)

// cell is one column of a frame: 8 bytes, so that a dashboard of 200x60 is
// 192 KB for what is shown and what is about to be.
type cell struct {
	ch    rune   // 0 is the right half of a wide character; negative: -1-index into the palette's clusters
	style uint16 // index into the palette's styles
	wide  bool
}

// palette is what the cells of frames refer to: a session's screen has a few
// dozen styles, and as many characters of more than one rune.
type palette struct {
	styles   []terminal.Style
	styleOf  map[terminal.Style]uint16
	clusters []string
	indexOf  map[string]rune
}

// paletteLimit is how many styles or clusters are kept before all is drawn
// anew with an empty palette.
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

// cell is c as the client's terminal is given it.
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

// Frame is a picture of the dashboard: what it draws on. Text that is drawn is
// made printable first; nothing else reaches a cell but the cells of a
// session's screen, which the emulator has made.
type Frame struct {
	cols, rows int
	cells      []cell
	palette    *palette
	ascii      bool // the client's terminal knows nothing else
	cursor     terminal.Cursor
}

// NewFrame is an empty picture.
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
	f.cursor = terminal.Cursor{}
}

// area is a part of a frame, with its own coordinates from 0.
type area struct {
	*Frame
	x, y, w, h int
}

func (f *Frame) all() area { return area{f, 0, 0, f.cols, f.rows} }

// part is the area within a that begins at x, y.
func (a area) part(x, y, w, h int) area {
	x, y = min(max(x, 0), a.w), min(max(y, 0), a.h)
	return area{a.Frame, a.x + x, a.y + y, min(max(w, 0), a.w-x), min(max(h, 0), a.h-y)}
}

func (a area) at(x, y int) *cell { return &a.cells[(a.y+y)*a.cols+a.x+x] }

// text writes s from column x on, as far as columns before end; a negative end
// is the area's. What does not fit is cut, with an ellipsis in its place. It
// gives the column behind the text.
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
		c := cell{ch: shown.Rune, style: style, wide: width == 2}
		if shown.Rest != "" {
			c.ch = a.palette.cluster(cluster)
		}
		*a.at(x, y) = c
		if width == 2 {
			*a.at(x+1, y) = cell{style: style}
		}
		x += width
	}
	return x
}

// right writes s so that it ends at column end, and gives its first column.
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

// The numbers by which characters are told that a row's end would hide.
const (
	aBlank   = "⟨U+0020⟩"
	aLineEnd = "⟨U+000A⟩"
)

// lay breaks what a person decides by into rows, so that another text has other rows. A line's
// end is told where the row's end could be a blank, and so are blanks before it.
func (m *Model) lay(text string, width int) []string {
	var rows []string
	lines := strings.Split(terminal.Reveal(text, m.theme.ascii), "\n")
	for i, line := range lines {
		if bare, blanks := strings.CutSuffix(line, " "); blanks {
			line = bare + aBlank
		}
		line = terminal.Printable(line)
		broken := wrapLine(line, max(width, 1))
		if i < len(lines)-1 {
			row, next := broken[len(broken)-1], strings.TrimLeft(lines[i+1], " ")
			indent := len(lines[i+1]) - len(next)
			word, _, _ := strings.Cut(next, " ")
			if row != "" && word != "" && terminal.StringWidth(row)+1+indent+terminal.StringWidth(word) > width {
				broken = wrapLine(line+aLineEnd, max(width, 1))
			}
		}
		rows = append(rows, broken...)
	}
	return rows
}

func (f *Frame) ellipsis() string { return f.glyph("…", "~") }

// glyph is a character, or what stands for it where only ASCII is known.
func (f *Frame) glyph(s, ascii string) string {
	if f.ascii {
		return ascii
	}
	return s
}

// cut shortens printable text to a width, an ellipsis included.
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

// wrap breaks text into lines of at most width columns, at blanks where there
// are any. Line ends in it are kept.
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
	for terminal.StringWidth(line) > width {
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
		if at < len(line) && line[at] == ' ' {
			blank = at
		}
		if blank == 0 || used == 0 {
			blank = max(at, 1)
		}
		row, next := strings.TrimRight(line[:blank], " "), strings.TrimLeft(line[blank:], " ")
		kept := len(line) - len(row) - len(next) - 1 // blanks, but for the one that a row's end stands for
		if !strings.Contains(row, " ") && terminal.StringWidth(row) >= width-1 {
			kept++ // else the row would look like the begin of a longer word
		}
		if row != "" && kept > 0 {
			next = strings.Repeat(" ", kept) + next
		}
		lines, line = append(lines, row), next
	}
	return append(lines, line)
}
