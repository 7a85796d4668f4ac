package tui

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/key"

	"berth/agent"
	"berth/terminal/paint"
)

// box is a place on the screen.
type box struct{ x, y, w, h int }

// layout is which parts there are, and where.
type layout struct {
	list, side box
	split      bool // list and session are both shown
	beside     bool // side by side
	preview    bool // the session is shown
}

// Sizes by which the parts are laid out: below them a part shows too little to
// be of use.
const (
	besideCols = 100 // for list and screen side by side
	belowRows  = 20  // for the screen below the list
	leastCols  = 20
	leastRows  = 5
)

func (m *Model) layout() layout {
	body := box{0, 1, m.cols, max(m.rows-2, 0)}
	l := layout{list: body, side: body}
	switch {
	case m.cols >= besideCols && m.rows >= 10:
		l.split, l.beside, l.preview = true, true, true
		w := min(max(m.cols*2/5, 46), 84)
		l.list.w = w
		l.side = box{w + 1, body.y, m.cols - w - 1, body.h}
	case m.rows >= belowRows:
		l.split, l.preview = true, true
		h := min(max(m.lines(), 3), max(body.h*2/5, 5))
		l.list.h = h
		l.side = box{0, body.y + h, m.cols, body.h - h}
	default:
		l.preview = m.detail
	}
	return l
}

// lines is how many the whole list takes.
func (m *Model) lines() int {
	n := 0
	for _, id := range m.order {
		n += m.heightOf(m.byID[id])
	}
	return n
}

// Draw draws the dashboard.
func (m *Model) Draw(f *Frame) {
	f.ascii = m.theme.ascii
	f.clear()
	if m.cols < leastCols || m.rows < leastRows {
		f.all().text(0, 0, -1, m.theme.style(plain), "too small")
		return
	}
	l := m.layout()
	all := f.all()
	m.drawHeader(all.part(0, 0, m.cols, 1))
	switch {
	case m.help:
		m.drawHelp(all.part(0, 1, m.cols, m.rows-2))
	case m.page != nil:
		m.drawPage(all.part(0, 1, m.cols, m.rows-2))
	case m.start != nil:
		m.drawStart(all.part(0, 1, m.cols, m.rows-2))
	default:
		if l.split || !l.preview {
			m.drawList(all.part(l.list.x, l.list.y, l.list.w, l.list.h))
		}
		if l.beside {
			for y := l.side.y; y < l.side.y+l.side.h; y++ {
				all.put(l.side.x-1, y, l.side.x, m.theme.style(faint), all.glyph("│", "|"))
			}
		}
		side := all.part(l.side.x, l.side.y, l.side.w, l.side.h)
		if l.preview {
			m.drawSession(side)
		}
		if m.edit != nil {
			h := m.editHeight(side.w, side.h)
			part := side.part(0, side.h-h, side.w, h)
			for y := range h {
				part.fill(y, m.theme.style(plain))
			}
			m.drawEdit(part)
		}
	}
	m.drawFooter(all.part(0, m.rows-1, m.cols, 1))
	m.drawFlash(all)
}

// mostFlash is how many rows a message may take.
const mostFlash = 4

// flashLines are the lines of a message, or of what is asked before a deed.
func (m *Model) flashLines() []string {
	text := m.flash.text
	if m.confirm != nil {
		text = m.confirm.text
	}
	if text == "" {
		return nil
	}
	lines := wrap(text, m.cols-2)
	return lines[:min(len(lines), mostFlash, m.rows)]
}

// flashRows is how many of the last rows a message is over.
func (m *Model) flashRows() int {
	n := len(m.flashLines())
	if m.confirm != nil {
		n++
	}
	return n
}

// drawFlash shows a message in the last row, and in those above it as far as
// it needs them; what is asked before a deed stands above the last row.
func (m *Model) drawFlash(a area) {
	st := m.theme.style(m.flash.tone)
	if m.confirm != nil { // above the keys that answer it
		st = m.theme.style(failed)
		a = a.part(0, 0, a.w, a.h-1)
	}
	lines := m.flashLines()
	if len(lines) == 0 {
		return
	}
	for i, l := range lines {
		y := a.h - len(lines) + i
		a.fill(y, m.theme.style(plain))
		a.text(1, y, -1, st, l)
	}
	if row := a.Frame.cursor.Row; row >= a.h-len(lines) {
		a.Frame.cursor.Visible = false
	}
}

// counts are what the header tells, in this order.
var counts = []struct {
	states []agent.State
	one    string
}{
	{[]agent.State{agent.Prompt}, "waiting"},
	{[]agent.State{agent.InError}, "error"},
	{[]agent.State{agent.Working, agent.Starting, agent.Restarting}, "working"},
	{[]agent.State{agent.Idle}, "idle"},
}

func (m *Model) drawHeader(a area) {
	t := m.theme
	x := a.text(1, 0, -1, t.style(strong), "Berth") + 2
	total := map[agent.State]int{}
	for _, s := range m.world.Sessions {
		total[s.Now]++
	}
	who := m.person.Name
	if m.person.Role != "" {
		who += " · " + m.person.Role
	}
	who = strings.ReplaceAll(who, "·", a.glyph("·", "-"))
	end := a.w - 1
	if a.w >= 60 {
		end = a.right(a.w-1, 0, t.style(faint), cut(who, a.w/3, a.ellipsis())) - 2
	}
	short := a.w < 60
	for _, c := range counts {
		n := 0
		for _, s := range c.states {
			n += total[s]
		}
		if n == 0 {
			continue
		}
		text := fmt.Sprintf("%s %d %s", t.icon(c.states[0]), n, c.one)
		if short {
			text = fmt.Sprintf("%s %d", t.icon(c.states[0]), n)
		}
		x = a.text(x, 0, end, t.style(lookOf(c.states[0]).tone), text) + 2
	}
}

// hint is a key and what it does.
type hint struct{ key, does string }

// hints are the keys that do something now, the most useful first.
func (m *Model) hints() []hint {
	enter := "enter"
	if !m.theme.ascii {
		enter = "↵"
	}
	switch {
	case m.help && m.helpLast > 0:
		return []hint{{"j k", "scroll"}, {"any other key", "back"}}
	case m.help:
		return []hint{{"any key", "back"}}
	case m.confirm != nil:
		return []hint{{"y", "yes"}, {"any other key", "no"}}
	case m.page != nil:
		return []hint{{"j k", "scroll"}, {"g G", "ends"}, {"r", "look again"}, {"q", "back"}}
	case m.start != nil:
		return []hint{{enter, "next, start"}, {"tab", "next"}, {"esc", "leave it"}}
	case m.filter.typing:
		return []hint{{enter, "keep"}, {"esc", "all"}}
	case m.edit != nil:
		return m.editHints(enter)
	}
	var list []hint
	s, l := m.current(), m.layout()
	if s != nil {
		switch {
		case !l.split && !m.detail:
			list = append(list, hint{enter, "show"})
		case m.world.May["attach"] && !s.Over():
			key := enter
			if m.carded() && m.world.May["respond"] && m.answersTo(s.Request)["enter"] {
				key = "a" // the card has the other
			}
			list = append(list, hint{key, "attach"})
		}
		if !l.split && m.detail {
			list = append(list, hint{"esc", "list"})
		}
	}
	if s != nil && m.world.May["nudge"] && takesMessages(s) && s.Now != agent.Prompt {
		list = append(list, hint{"n", "message"})
	}
	if s != nil && s.Request != nil && l.preview && m.world.May["screen"] {
		list = append(list, hint{"s", map[bool]string{true: "question", false: "screen"}[m.card.hidden]})
	}
	if len(m.world.Sessions) > 1 {
		list = append(list, hint{"/", "filter"})
	}
	return append(list, hint{"?", "help"}, hint{"q", "quit"})
}

// editHints are the keys of the text that is being written.
func (m *Model) editHints(enter string) []hint {
	list := []hint{{enter, "send"}}
	switch m.edit.what {
	case filling:
		list[0].does = "next"
	case nudging:
		list = append(list, hint{"alt-" + enter, "new line"}, hint{"ctrl-q", "queue it"})
		if m.edit.offer == offerStash {
			list = append(list, hint{"ctrl-s", "put their draft aside"})
		}
	}
	return append(list, hint{"esc", "leave it"})
}

func (m *Model) drawFooter(a area) {
	t := m.theme
	x := 1
	if listed := !m.help && m.page == nil && m.start == nil && m.edit == nil && m.confirm == nil; listed && (m.filter.typing || m.filter.text != "") {
		x = a.text(x, 0, -1, t.style(accent), "/")
		x = a.text(x, 0, a.w*2/3, t.style(plain), m.filter.text)
		if m.filter.typing {
			a.Frame.cursor.Row, a.Frame.cursor.Col, a.Frame.cursor.Visible = a.y, min(a.x+x, a.cols-1), true
		}
		x += 3
	}
	m.drawHints(a.part(x, 0, a.w-x, 1), m.hints())
}

// drawHints draws as many hints as there is room for.
func (m *Model) drawHints(a area, list []hint) {
	var all []key.Binding
	for _, h := range list {
		all = append(all, key.NewBinding(key.WithKeys(h.key), key.WithHelp(h.key, h.does)))
	}
	keys := m.theme.help()
	keys.SetWidth(a.w)
	a.draw(keys.ShortHelpView(all))
}

// Title is what the window is called.
func (m *Model) Title() string {
	switch n := m.waiting(); n {
	case 0:
		return "berth"
	default:
		return fmt.Sprintf("(%d) berth: %d waiting", n, n)
	}
}

// SetLook tells what the terminal can show.
func (m *Model) SetLook(l paint.Look, light bool) {
	m.theme = newTheme(l, light)
}
