package tui

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/viewport"

	"berth/terminal"
)

// pager is a page that covers the list and the session.
type pager struct {
	viewport.Model
	act   Act // the act that made it, for a refresh
	text  []string
	lines []*terminal.Line // the lines of the scrollback, drawn from their cells: as text they would take 220 ms
	wide  int              // the width that the text is broken for
	end   bool             // stay at the end
}

func newPager(d Done) *pager {
	p := &pager{Model: viewport.New(), act: d.Act, lines: d.Lines, end: d.end}
	if d.Lines == nil {
		text := strings.TrimRight(strings.ReplaceAll(d.Out, "\r\n", "\n"), "\n")
		if text == "" {
			text = "(empty)"
		}
		p.text = strings.Split(text, "\n")
	}
	return p
}

// fit sets the size of the page.
func (p *pager) fit(cols, rows int) {
	at := p.YOffset()
	if p.wide == 0 {
		at = p.act.at
	}
	p.SetHeight(rows)
	if p.SetWidth(cols); p.wide != cols {
		p.wide = cols
		lines := slices.Repeat([]string{" "}, len(p.lines))
		for _, l := range p.text {
			lines = append(lines, wrap(l, cols)...)
		}
		p.SetContentLines(lines)
	}
	if p.SetYOffset(at); p.end {
		p.GotoBottom()
	}
}

// pressPage handles a key while a page is open.
func (m *Model) pressPage(k Key) Effect {
	p := m.page
	step := max(p.Height()-1, 1)
	p.end = false
	switch k.Name {
	case "q", "esc", "h", "enter":
		m.page = nil
	case "up", "k":
		p.ScrollUp(1)
	case "down", "j":
		p.ScrollDown(1)
	case "pgup", "ctrl+b", "K", "ctrl+u":
		p.ScrollUp(step)
	case "pgdown", "ctrl+f", " ", "J", "ctrl+d":
		p.ScrollDown(step)
	case "home", "g":
		p.GotoTop()
	case "end", "G":
		p.end = true
	case "r":
		if p.act.Line != "" {
			m.Flash("run the line again from the command bar: it may change something", faint)
			return nil
		}
		again := p.act
		again.at = p.YOffset()
		return m.act(again, "loading")
	default:
		if (p.act.Kind == "page transcript" || p.act.Kind == "page watch" && m.world.May["transcript"]) && len(k.Name) == 1 && k.Name[0] >= '1' && k.Name[0] <= '9' {
			a := p.act
			a.Kind, a.end, a.title = "page part", false, "Session log of "+a.Name+", part "+k.Name
			a.Words = []string{"transcript", a.Session, k.Name, "--raw"}
			return m.act(a, "loading")
		}
	}
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
	if p.lines == nil {
		body = a.part(1, 1, a.w-2, a.h-1)
	}
	p.fit(body.w, body.h)
	first, count := p.YOffset(), p.TotalLineCount()
	last := min(first+p.Height(), count)
	if p.lines == nil {
		body.draw(p.View())
	} else {
		for y, l := range p.lines[first:last] {
			m.drawLine(body, y, l, 0, l.Len(), terminal.Colors{})
		}
	}
	a.mark(0, 0, a.w, a.h, target{up: "up", down: "down", times: 3})
	a.right(a.w-2, 0, t.style(faint), fmt.Sprintf(" %d-%d of %d ", min(first+1, last), last, count))
}
