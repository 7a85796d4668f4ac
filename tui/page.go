package tui

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"charm.land/bubbles/v2/viewport"

	"berth/render"
	"berth/sessions"
	"berth/terminal"
)

// pager is a page that covers the list and the session. The viewport only counts and scrolls; the rows
// are drawn from their cells, because as text a scrollback would take 220 ms.
type pager struct {
	viewport.Model
	act    Act // the act that made it, for a refresh
	text   []render.Line
	marked bool             // the text is laid out by package render, and not as it was printed
	lines  []*terminal.Line // of a scrollback, in place of text
	queue  []sessions.Queued
	rows   []pageRow
	wide   int  // the width that the rows are broken for
	end    bool // stay at the end

	chosen int // the chosen message of a queue
	search
}

// pageRow is a row of a page.
type pageRow struct {
	line []render.Span
	item int // number of the message that it belongs to
}

// search is what the person looks for on a page.
type search struct {
	find   string
	typing bool // the person types it
	found  int  // row of the current match; -1: none yet
}

func newPager(d Done) *pager {
	p := &pager{Model: viewport.New(), act: d.Act, lines: d.Lines, end: d.end, queue: d.queue, search: search{found: -1}}
	if d.Lines == nil && !d.queues() {
		text := strings.TrimRight(strings.ReplaceAll(d.Out, "\r\n", "\n"), "\n")
		if text == "" {
			text = "(empty)"
		}
		if p.marked = d.Kind == "page diff"; p.marked {
			p.text = render.Patch(text)
		} else {
			p.text = render.Text(text)
		}
	}
	return p
}

// lay breaks the page's text into rows.
func (p *pager) lay(m *Model, cols int) {
	p.rows = p.rows[:0]
	switch {
	case p.act.queues():
		p.layQueue(m, cols)
	case p.marked:
		digits := render.Digits(p.text)
		for _, r := range render.Flow(p.text, cols) {
			prefix := r.Prefix(digits)
			if r.Continued {
				prefix = strings.Repeat(" ", len(prefix))
			}
			tone := render.Faint
			if r.Margin && len(r.Spans) > 0 {
				tone = r.Spans[0].Tone
			}
			p.rows = append(p.rows, pageRow{line: append([]render.Span{{Text: prefix, Tone: tone}}, r.Spans...)})
		}
	default:
		for _, l := range p.text {
			for _, row := range wrap(l.Text(), cols) {
				p.rows = append(p.rows, pageRow{line: []render.Span{{Text: row}}})
			}
		}
	}
}

// fit sets the size of the page.
func (p *pager) fit(m *Model, cols, rows int) {
	at := p.YOffset()
	if p.wide == 0 {
		at = p.act.at
	}
	p.SetHeight(rows)
	if p.SetWidth(cols); p.wide != cols {
		p.wide, p.found = cols, -1
		p.lay(m, cols)
		p.SetContentLines(slices.Repeat([]string{" "}, max(len(p.lines), len(p.rows))))
	}
	if p.SetYOffset(at); p.end {
		p.GotoBottom()
	}
}

// pressPage handles a key while a page is open.
func (m *Model) pressPage(k Key) Effect {
	p := m.page
	if p.typing {
		m.typeSearch(k)
		return nil
	}
	if effect, ok := m.pressQueue(k); ok {
		return effect
	}
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
	case "/":
		p.search = search{typing: true, found: -1}
	case "n":
		m.searchPage(p.way())
	case "N":
		m.searchPage(-p.way())
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

// way is where a search goes first: up on a page that opens at its end, as in a conversation.
func (p *pager) way() int {
	if p.act.end {
		return -1
	}
	return 1
}

// typeSearch handles a key while the person types what to look for.
func (m *Model) typeSearch(k Key) {
	p := m.page
	switch k.Name {
	case "esc":
		p.search = search{found: -1}
	case "enter":
		p.typing = false
		m.searchPage(p.way())
	case "backspace":
		_, n := utf8.DecodeLastRuneInString(p.find)
		p.find = p.find[:len(p.find)-n]
	default:
		if k.Text != "" && len(p.find)+len(k.Text) <= filterLimit {
			p.find += k.Text
		}
	}
}

// rowText is the text of a row.
func (p *pager) rowText(y int) string {
	if p.lines != nil {
		return p.lines[y].Text()
	}
	return render.Line{Spans: p.rows[y].line}.Text()
}

// searchPage goes to the next row that has the text: up for -1, down for 1, and around at the ends.
func (m *Model) searchPage(way int) {
	p := m.page
	count := p.TotalLineCount()
	if p.find == "" || count == 0 {
		m.Flash("nothing to find: press / and type a text", faint)
		return
	}
	from := p.found
	switch {
	case from >= 0:
	case way > 0:
		from = p.YOffset() - 1
	default:
		from = p.YOffset() + p.Height()
	}
	for n := 1; n <= count; n++ {
		y := ((from+way*n)%count + count) % count
		if len(render.Matches(p.rowText(y), p.find)) > 0 {
			if p.found = y; y < p.YOffset() || y >= p.YOffset()+p.Height() {
				p.SetYOffset(y - p.Height()/2)
			}
			return
		}
	}
	m.Flash("not found: "+p.find, waits)
}

// pageHints are the keys of a page.
func (m *Model) pageHints() []hint {
	p := m.page
	switch {
	case p.typing:
		return []hint{{"enter", "find"}, {"esc", "close"}}
	case p.act.queues() && len(p.queue) > 0:
		list := []hint{{"j k", "choose"}, {"x", "remove"}, {"r", "refresh"}, {"q", "back"}}
		if !m.world.May["nudge"] {
			list = slices.Delete(list, 1, 2)
		}
		return list
	case p.act.Line != "":
		return []hint{{"j k", "scroll"}, {"g G", "first, last"}, {"q", "back"}, {"/ n N", "find"}}
	}
	return []hint{{"j k", "scroll"}, {"g G", "first, last"}, {"r", "refresh"}, {"q", "back"}, {"/ n N", "find"}}
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
	if p.typing || p.find != "" {
		body.h--
		a.text(1, a.h-1, -1, t.style(accent), "/"+p.find)
	}
	p.fit(m, body.w, body.h)
	first, count := p.YOffset(), p.TotalLineCount()
	last := min(first+p.Height(), count)
	find := p.find
	if p.typing {
		find = ""
	}
	for y := range last - first {
		if p.lines != nil {
			l := p.lines[first+y]
			m.drawLine(body, y, l, 0, l.Len(), terminal.Colors{})
			m.markFound(body, y, l.Text(), find)
			continue
		}
		row, x := p.rows[first+y], 0
		of := p.act.queues() && row.item == p.chosen && len(p.queue) > 0
		if of {
			body.fill(y, t.selected(t.style(plain)))
		}
		for _, s := range row.line {
			x = m.drawFound(body, x, y, s, of, find)
		}
	}
	a.mark(0, 0, a.w, a.h, target{up: "up", down: "down", times: 3})
	a.right(a.w-2, 0, t.style(faint), fmt.Sprintf(" %d-%d of %d ", min(first+1, last), last, count))
}

// markFound reverses what the person looks for in a row that is drawn.
func (m *Model) markFound(a area, y int, text, find string) {
	for _, at := range render.Matches(text, find) {
		x := terminal.StringWidth(text[:at])
		for end := x + terminal.StringWidth(find); x < min(end, a.w); x++ {
			c := a.at(x, y)
			st := a.palette.styles[c.style]
			st.Attr ^= terminal.Reverse
			c.style = a.palette.style(st)
		}
	}
}
