package attach

import (
	"fmt"

	"berth/terminal"
)

// pager shows history and screen as they were when it was opened.
type pager struct {
	lines     []*terminal.Line
	cols      int // of the session's screen
	top, left int
	winCols   int
	winRows   int
	place     string // what the last row shows
	label     *label
}

// pagerHistory is as many lines as a pager goes back: those a session keeps
// unless it is configured to keep more.
const pagerHistory = 10_000

func newPager(s *terminal.Snapshot, cols, rows int) *pager {
	lines := append(append([]*terminal.Line(nil), s.History...), s.Lines...)
	for n := len(lines); n > 0 && lines[n-1].Text() == ""; n-- {
		lines = lines[:n-1]
	}
	p := &pager{lines: lines, cols: s.Cols}
	p.resize(cols, rows)
	p.top = p.last()
	return p
}

func (p *pager) resize(cols, rows int) {
	p.winCols, p.winRows, p.label = cols, rows, nil
	p.clamp()
}

// page is how many lines are shown; the last row shows the position.
func (p *pager) page() int { return max(p.winRows-1, 1) }

func (p *pager) last() int { return max(len(p.lines)-p.page(), 0) }

func (p *pager) clamp() {
	p.top = min(max(p.top, 0), p.last())
	p.left = min(max(p.left, 0), max(p.cols-p.winCols, 0))
}

// press handles a key and says whether the pager stays open.
func (p *pager) press(k string) bool {
	switch k {
	case "up", "k":
		p.top--
	case "down", "j", "enter":
		p.top++
	case "left", "h":
		p.left -= 8
	case "right", "l":
		p.left += 8
	case "pgup", "b", "ctrl+b":
		p.top -= p.page()
	case "pgdown", " ", "ctrl+f":
		p.top += p.page()
	case "u", "ctrl+u":
		p.top -= p.page() / 2
	case "d", "ctrl+d":
		p.top += p.page() / 2
	case "g", "<", "home":
		p.top = 0
	case "G", ">", "end":
		p.top = p.last()
	case "q", "esc", "ctrl+c":
		return false
	}
	p.clamp()
	return true
}

// view is the rows to draw.
func (p *pager) view() []rowView {
	rows := make([]rowView, p.winRows)
	for i := range min(p.page(), p.winRows) {
		rows[i] = rowView{left: p.left, cols: p.cols}
		if n := p.top + i; n < len(p.lines) {
			rows[i].line = p.lines[n]
		}
	}
	if p.winRows > 1 {
		to := min(p.top+p.page(), len(p.lines))
		place := fmt.Sprintf(" %d-%d of %d · PgUp PgDn g G · q ends", min(p.top+1, to), to, len(p.lines))
		if place != p.place || p.label == nil {
			p.place, p.label = place, newLabel(place, p.winCols)
		}
		rows[p.winRows-1] = rowView{over: p.label}
	}
	return rows
}
