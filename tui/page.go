package tui

import (
	"fmt"
	"strings"

	"berth/terminal"
)

// pager is a text to read, in place of list and session.
type pager struct {
	act   Act // that gave it, to look again
	text  []string
	lines []*terminal.Line // of a screen's history, with their colours; then there is no text
	cols  int              // that they have
	top   int
	end   bool // stay at the end
	rows  int  // as drawn last
	count int  // lines as broken for the width drawn last
}

func newPager(d Done) *pager {
	p := &pager{act: d.Act, lines: d.Lines, cols: d.Cols, end: d.end}
	if d.Lines == nil {
		text := strings.TrimRight(strings.ReplaceAll(d.Out, "\r\n", "\n"), "\n")
		if text == "" {
			text = "there is nothing to show"
		}
		p.text = strings.Split(text, "\n")
	}
	return p
}

// pressPage takes a key while a page is read.
func (m *Model) pressPage(k Key) Effect {
	p := m.page
	step := max(p.rows-1, 1)
	p.end = false
	switch k.Name {
	case "q", "esc", "h", "enter":
		m.page = nil
		return nil
	case "up", "k":
		p.top--
	case "down", "j":
		p.top++
	case "pgup", "ctrl+b", "K", "ctrl+u":
		p.top -= step
	case "pgdown", "ctrl+f", " ", "J", "ctrl+d":
		p.top += step
	case "home", "g":
		p.top = 0
	case "end", "G":
		p.end = true
	case "r":
		again := p.act
		again.at = p.top
		return m.act(again, "asking")
	default:
		if p.act.Kind == "page transcript" && len(k.Name) == 1 && k.Name[0] >= '1' && k.Name[0] <= '9' {
			a := p.act
			a.Kind, a.title = "page part", "Session log of "+a.Name+", part "+k.Name
			a.Words = []string{"transcript", a.Session, k.Name}
			return m.act(a, "asking")
		}
	}
	p.top = min(max(p.top, 0), max(p.count-p.rows, 0))
	return nil
}

func (m *Model) drawPage(a area) {
	t, p := m.theme, m.page
	a.line(0, t.style(faint))
	title := p.act.title
	if a.ascii {
		title = strings.ReplaceAll(title, "·", "-")
	}
	a.text(2, 0, -1, t.style(strong), " "+title+" ")
	body := a.part(0, 1, a.w, a.h-1)
	p.rows = body.h
	if p.lines != nil {
		m.drawHistory(body)
	} else {
		m.drawText(body)
	}
	last := min(p.top+p.rows, p.count)
	a.right(a.w-2, 0, t.style(faint), fmt.Sprintf(" %d-%d of %d ", min(p.top+1, last), last, p.count))
}

// place settles which lines are shown.
func (p *pager) place(count int) {
	p.count = count
	if p.end {
		p.top = count
	}
	p.top = min(max(p.top, 0), max(count-p.rows, 0))
}

func (m *Model) drawText(a area) {
	var broken []string
	for _, l := range m.page.text {
		broken = append(broken, wrap(l, a.w-2)...)
	}
	m.page.place(len(broken))
	for y := range min(a.h, len(broken)-m.page.top) {
		a.text(1, y, -1, m.theme.style(plain), broken[m.page.top+y])
	}
}

func (m *Model) drawHistory(a area) {
	m.page.place(len(m.page.lines))
	for y := range min(a.h, m.page.count-m.page.top) {
		m.drawLine(a, y, m.page.lines[m.page.top+y], 0, m.page.cols, terminal.Colors{})
	}
}
