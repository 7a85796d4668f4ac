package tui

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/lipgloss/v2"

	"berth/agent"
	"berth/terminal"
	"berth/terminal/paint"
)

// box is a place on the screen.
type box struct{ x, y, w, h int }

// layout says which parts are shown, and where.
type layout struct {
	list, side box
	split      bool // both the list and the session are shown
	beside     bool // side by side, in a frame
	preview    bool // the session's screen or prompt is shown
}

// Minimum sizes of the parts. A smaller part shows too little to be of use.
const (
	besideCols = 100 // for list and screen side by side
	sideCols   = 112 // enough for most screens; the rest is for the list
	belowRows  = 20  // for the screen below the list
	noneRows   = 3   // for a list's two lines that say why it is empty
	leastCols  = 20
	leastRows  = 5
)

func (m *Model) layout() layout {
	body := box{0, 1, m.cols, max(m.rows-2, 0)}
	if m.wall.up {
		return m.wallLayout(body)
	}
	l := layout{list: body, side: body}
	switch {
	case m.sideBySide():
		l.split, l.beside, l.preview = true, true, true
		w := min(max(m.cols*2/5, m.cols-sideCols, 46), 100)
		w = max(w, min(m.longest()+goodDoing+12, m.cols/2)) // long names take room from the screen, not from what is done
		l.list = box{1, body.y + 1, w - 1, m.listMost()}
		l.side = box{w + 1, body.y, m.cols - w - 2, body.h - 1} // its first row is the frame's
	case m.rows >= belowRows:
		l.split, l.preview = true, true
		h := min(m.lines(body.w), m.listMost())
		if len(m.order) == 0 {
			h = max(noneRows, h)
		}
		l.list.h = h
		l.side = box{0, body.y + h, m.cols, body.h - h}
	default:
		l.preview = m.detail
	}
	return l
}

func (m *Model) sideBySide() bool { return m.cols >= besideCols && m.rows >= 10 }

// listMost is the maximum of rows for the list.
func (m *Model) listMost() int {
	body := max(m.rows-2, 0)
	switch {
	case m.sideBySide():
		return body - 2
	case m.rows >= belowRows:
		return max(body*2/5, 5)
	}
	return body
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
	case m.talk != nil:
		m.drawTalk(all.part(0, 1, m.cols, m.rows-2))
	case m.page != nil:
		m.drawPage(all.part(0, 1, m.cols, m.rows-2))
	case m.start != nil: // without the session: a card that is covered wasn't read
		m.drawList(all.part(l.list.x, l.list.y, l.list.w, l.list.h))
		m.drawStart(all.part(0, 1, m.cols, m.rows-2))
	default:
		if m.wall.up {
			m.drawWall(all)
		} else if l.split || !l.preview {
			m.drawList(all.part(l.list.x, l.list.y, l.list.w, l.list.h))
		}
		if l.beside {
			m.drawFrame(all.part(0, 1, m.cols, m.rows-2), l.side.x-1)
		}
		side := all.part(l.side.x, l.side.y, l.side.w, l.side.h)
		if l.preview && !m.wall.up {
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
	if m.command != nil {
		m.drawCommand(all)
		all.h-- // a message is drawn above it
	} else {
		m.drawFooter(all.part(0, m.rows-1, m.cols, 1))
	}
	m.drawFlash(all)
}

// mostFlash is the maximum number of rows of a message. A confirmation has as many as the window.
const mostFlash = 4

// flashLines are the lines of a message, or of the confirmation of an action.
func (m *Model) flashLines() []string {
	text, most := m.flash.text, min(mostFlash, m.rows)
	if m.confirm != nil {
		text, most = m.confirm.text, max(m.rows-2, 1)
	}
	if text == "" {
		return nil
	}
	lines := wrap(text, m.cols-2)
	if len(lines) > most {
		lines = lines[:most]
		if m.confirm != nil { // what is cut off is confirmed too
			lines[most-1] = "… and more"
		}
	}
	return lines
}

// flashRows is how many of the last rows a message covers.
func (m *Model) flashRows() int {
	n := len(m.flashLines())
	if m.confirm != nil {
		n++
	}
	return n
}

// drawFlash draws a message in the last row, and in the rows above it if it needs them. The
// confirmation of an action is drawn above the last row, which has its keys.
func (m *Model) drawFlash(a area) {
	st := m.theme.style(m.flash.tone)
	if m.confirm != nil { // leave the last row to its keys
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

// drawFrame draws the frame around the list and the session, and the line between them.
func (m *Model) drawFrame(a area, between int) {
	st, bottom := m.theme.style(edge), a.h-1
	a.line(0, st)
	a.line(bottom, st)
	for y := 1; y < bottom; y++ {
		for _, x := range []int{0, between, a.w - 1} {
			a.put(x, y, x+1, st, a.glyph("│", "|"))
		}
	}
	for _, c := range []struct {
		x, y int
		s    string
	}{{0, 0, "╭"}, {between, 0, "┬"}, {a.w - 1, 0, "╮"}, {0, bottom, "╰"}, {between, bottom, "┴"}, {a.w - 1, bottom, "╯"}} {
		a.put(c.x, c.y, c.x+1, st, a.glyph(c.s, "+"))
	}
	a.text(2, 0, between-1, m.theme.style(faint), " "+m.listTitle()+" ")
}

// listTitle says what the list has: how many sessions, and what they are grouped by.
func (m *Model) listTitle() string {
	n, all := len(m.order), len(m.world.Sessions)
	text := fmt.Sprintf("%d sessions", all)
	switch {
	case n != all:
		text = fmt.Sprintf("%d of %d sessions", n, all)
	case all == 1:
		text = "1 session"
	}
	text += " by " + m.grouped().String()
	if lost := m.lostHosts(); lost != "" {
		text += " · " + lost
	}
	return text
}

// counted is how many of stateGroups the header counts.
const counted = 5

func (m *Model) drawHeader(a area) {
	t := m.theme
	x := a.text(1, 0, -1, t.badge(), a.glyph(" ⚓ berth ", " berth ")) + 2
	total := make([]int, len(stateGroups))
	for _, s := range m.world.Sessions {
		total[rank(s.Now)]++
	}
	who := m.person.Name
	if m.person.Role != "" {
		who += " · " + m.person.Role
	}
	end, gap := a.w-1, 3
	if a.w < besideCols {
		gap = 2
	}
	if a.w >= 60 {
		end = a.right(a.w-1, 0, t.style(faint), cut(a.spelled(who), a.w/3, a.ellipsis())) - 2
	}
	for i, g := range stateGroups[:counted] {
		n := total[i]
		if n == 0 {
			continue
		}
		text := fmt.Sprintf("%s %d", t.icon(g.states[0]), n)
		if a.w >= 60 {
			text += " " + g.name
		}
		if n > 1 {
			text = strings.Replace(text, "needs", "need", 1)
		}
		if x+terminal.StringWidth(text) > end {
			break
		}
		x = a.text(x, 0, end, t.style(lookOf(g.states[0]).tone), text) + gap
	}
}

// hint is a key and what it does.
type hint struct{ key, does string }

// hints are the keys that work now, the most useful first.
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
	case m.talk != nil:
		return m.talkHints()
	case m.page != nil:
		return m.pageHints()
	case m.start != nil:
		return []hint{{enter, "start"}, {"tab", "next, complete"}, {"esc", "close"}}
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
		case m.wall.up && !m.wall.zoomed:
			list = append(list, hint{"z", "zoom"})
		case m.world.May["attach"] && !s.Over():
			key := enter
			if m.carded() && m.world.May["respond"] && m.answersTo(s.Request)["enter"] {
				key = "o" // the card uses Enter
			}
			list = append(list, hint{key, "attach"})
		}
		if !l.split && m.detail {
			list = append(list, hint{"esc", "list"})
		}
	}
	if len(m.marks) > 0 && !m.wall.up {
		list = append(list, hint{"esc", "unmark all"})
	}
	if m.nextWaiting(1) != "" {
		list = append(list, hint{"tab", "next waiting"})
	}
	if m.wall.up {
		list = append(list, hint{"esc", map[bool]string{true: "tiles", false: "list"}[m.wall.zoomed]})
	}
	if s != nil && m.world.May["nudge"] && takesMessages(s) && s.Now != agent.Prompt {
		list = append(list, hint{"m", "message"})
	}
	if s != nil && s.Request != nil && l.preview && m.world.May["screen"] {
		list = append(list, hint{"s", map[bool]string{true: "question", false: "screen"}[m.card.hidden]})
	}
	if m.wall.up {
		return append(list, hint{"?", "help"})
	}
	if len(m.world.Sessions) > 1 {
		list = append(list, hint{"/", "filter"})
	}
	if by := m.grouped(); by != byState && !l.beside { // otherwise the title has it
		list = append(list, hint{"S", "by " + by.String()})
	}
	if m.advance {
		list = append(list, hint{"a", "goes on by itself"})
	}
	if !l.split && m.detail {
		return append(list, hint{"?", "help"})
	}
	return append(list, hint{"?", "help"}, hint{"q", "quit"})
}

// editHints are the keys of the editor.
func (m *Model) editHints(enter string) []hint {
	list := []hint{{enter, "send"}}
	switch m.edit.what {
	case filling:
		list[0].does = "next"
	case nudging:
		list = append(list, hint{"alt-" + enter, "new line"}, hint{"ctrl-q", "queue"})
		if m.edit.offer == offerStash {
			list = append(list, hint{"ctrl-s", "stash the draft and send"})
		}
	}
	return append(list, hint{"esc", "close"})
}

// inList reports whether the last row has the keys of the list.
func (m *Model) inList() bool {
	return !m.help && m.talk == nil && m.page == nil && m.start == nil && m.edit == nil && m.confirm == nil
}

func (m *Model) drawFooter(a area) {
	t := m.theme
	x := 1
	if m.inList() && (m.filter.typing || m.filter.text != "") {
		x = a.text(x, 0, -1, t.style(accent), "/")
		x = a.text(x, 0, a.w*2/3, t.style(plain), m.filter.text)
		if m.filter.typing {
			a.Frame.cursor.Row, a.Frame.cursor.Col, a.Frame.cursor.Visible = a.y, min(a.x+x, a.cols-1), true
		}
		x++
		if !m.layout().beside { // otherwise the title has it
			x = a.text(x, 0, -1, t.style(faint), fmt.Sprintf("%d of %d", len(m.order), len(m.world.Sessions)))
		}
		x += 2
	}
	if n := len(m.marks); n > 0 && m.inList() {
		x = a.text(x, 0, a.w, t.style(accent), fmt.Sprintf("%d marked", n)) + 2
	}
	if page := m.pageOfWall(); page != "" {
		a.w = a.right(a.w-1, 0, t.style(faint), page) - 2
	}
	m.drawHints(a.part(x, 0, a.w-x, 1), m.hints(), target{of: m.context()})
}

// drawHints draws as many hints as fit. A click on one is a click on t with its key. A key that does nothing
// yet has its room only, so a person sees when it works.
func (m *Model) drawHints(a area, list []hint, t target) {
	keys, x := m.theme.help(), 0
	for _, h := range list {
		text := keys.ShortHelpView([]key.Binding{key.NewBinding(key.WithKeys(h.key), key.WithHelp(h.key, h.does))})
		w := lipgloss.Width(text)
		if x+w > a.w {
			return
		}
		part := a.part(x, 0, w, 1)
		if !m.tooSoon(h.key, t.card) {
			part.draw(text)
		}
		if t.key = keyOfHint(h); t.key != "" {
			part.mark(0, 0, w, 1, t)
		}
		x += w + len(keys.ShortSeparator)
	}
}

// Title is the window's title.
func (m *Model) Title() string {
	switch n := m.waiting(); n {
	case 0:
		return "berth"
	default:
		return fmt.Sprintf("(%d) berth: %d waiting", n, n)
	}
}

// SetLook sets what the terminal can show, and whether its background is light.
func (m *Model) SetLook(l paint.Look, light bool) {
	m.theme = newTheme(l, light)
}
