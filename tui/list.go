package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"berth/sessions"
	"berth/terminal"
)

// listRow is one row of the list.
type listRow struct {
	head   string // a group's title; empty if it isn't a heading
	tone   tone   // of the heading
	id     string // the session; empty for a heading and for the room between groups
	second bool   // the session's second row, with its question or its error
}

// rowsOf are the rows of the whole list.
func (m *Model) rowsOf(c columns) []listRow {
	var all []listRow
	headed, before := m.headed(), ""
	for i, id := range m.order {
		g := m.groups[id]
		if headed && (i == 0 || g.title != before) {
			if i > 0 && m.listMost() >= headedRows {
				all = append(all, listRow{})
			}
			all = append(all, m.headOf(m.order[i:]))
		}
		before = g.title
		all = append(all, listRow{id: id})
		if s := m.byID[id]; s != nil && c.doing.w < leastDoing && asks(s) {
			all = append(all, listRow{id: id, second: true})
		}
	}
	return append(all, m.emptyHosts()...)
}

// count is how many sessions from the first on are in the group. One that keeps its place although it is in
// another group by now isn't.
func (m *Model) count(ids []string, title string) (n int) {
	for _, id := range ids {
		if m.groups[id].title != title {
			break
		}
		if s := m.byID[id]; s != nil && m.grouped().groupOf(s).title == title {
			n++
		}
	}
	return n
}

// lines is the number of rows of the whole list, with its titles.
func (m *Model) lines(width int) int {
	n := len(m.rowsOf(m.columns(width)))
	if m.titled() {
		n++
	}
	return n
}

// Sizes of the list's area that are needed for more than one row a session.
const (
	headedRows = 14 // for headings with room between the groups
	titledRows = 8  // for titles of the columns
	hostRows   = 5  // for headings of hosts, without room between the groups
)

// headed reports whether groups have headings. Without room for them, a column names the state. Those of hosts say
// how the hosts are, so they need little room.
func (m *Model) headed() bool {
	return m.listMost() >= headedRows || m.grouped() == byHost && m.listMost() >= hostRows
}

// titled reports whether the columns have titles.
func (m *Model) titled() bool { return m.listMost() >= titledRows && len(m.order) > 0 }

// here is who has control, and how many viewers are attached.
func here(s *sessions.Status, pen string) string {
	var words []string
	if s.Writer != nil {
		words = append(words, pen+oneLine(s.Writer.Identity))
	}
	if s.Viewers > 0 {
		words = append(words, fmt.Sprintf("+%d", s.Viewers))
	}
	return strings.Join(words, " ")
}

// column is the place of a column. Without width it isn't shown.
type column struct{ x, w int }

// columns are the places of a session's parts in its row.
type columns struct{ name, state, agent, mode, doing, where, tags, age column }

// Widths of columns.
const (
	nameMost   = 32 // the widest name that is always shown in full
	stateCols  = 11
	agentMost  = 8
	modeMost   = 12
	whereMost  = 28
	tagsMost   = 24
	ageCols    = 4
	leastDoing = 16 // with less, questions and errors get a second row
	goodDoing  = 24 // what it does has so much before the columns after it get room
)

// longest is the width of the longest name, within bounds.
func (m *Model) longest() int {
	n := 8
	for _, s := range m.world.Sessions {
		n = max(n, m.indent(s)+len(s.Name))
	}
	return min(n, nameMost)
}

// indentMost bounds the room that a tree takes from names.
const indentMost = 8

// indent is how far a session's name is to the right, below its parent's.
func (m *Model) indent(s *sessions.Status) int { return min(2*m.depths[s.ID], indentMost) }

// columns gives room to the name first, because people know sessions by it. Then comes how long the
// session has been in its state, what it does, and the rest if that has enough room.
func (m *Model) columns(w int) columns {
	kind, mode, where, tags := 0, 0, 0, 0 // the widest of each
	for _, s := range m.world.Sessions {
		kind, tags = max(kind, terminal.StringWidth(s.Agent)), max(tags, terminal.StringWidth(tagsOf(s)))
		mode = max(mode, terminal.StringWidth(modeOf(s)))
		where = max(where, terminal.StringWidth(folder(s, "±")))
	}
	c := columns{name: column{4, min(m.longest(), max(w-5, 1))}}
	x := c.name.x + c.name.w + 1
	end := w - 1
	if end-x >= ageCols {
		end -= ageCols
		c.age = column{end, ageCols}
		end--
	}
	left := end - x
	take := func(col *column, width, rest int) {
		if width > 0 && left-width-1 >= rest {
			col.w = width
			left -= width + 1
		}
	}
	if !m.headed() && m.grouped() == byState {
		take(&c.state, stateCols, leastDoing)
	}
	take(&c.agent, min(kind, agentMost), goodDoing)
	take(&c.mode, min(mode, modeMost), goodDoing)
	take(&c.where, titleWide(where, whereMost), goodDoing)
	take(&c.tags, titleWide(tags, tagsMost), goodDoing)
	if left > stateCols {
		take(&c.doing, left-1, 0)
	}
	for _, col := range []*column{&c.state, &c.agent, &c.mode, &c.doing, &c.where, &c.tags} {
		if col.w > 0 {
			col.x = x
			x += col.w + 1
		}
	}
	return c
}

// titleWide is the width of a column with room for its title; 0 if it is empty.
func titleWide(w, most int) int {
	if w == 0 {
		return 0
	}
	return min(max(w, len("FOLDER")), most)
}

func (m *Model) drawList(a area) {
	if len(m.order) == 0 && len(m.emptyHosts()) == 0 {
		m.drawNone(a)
		return
	}
	c := m.columns(a.w)
	if m.titled() {
		m.drawTitles(a, c)
		a = a.part(0, 1, a.w, a.h-1)
	}
	all := m.rowsOf(c)
	m.scroll(all, a.h)
	a.mark(0, 0, a.w, a.h, target{up: "up", down: "down"})
	group := ""
	for y, r := range all[m.top:min(len(all), m.top+a.h)] {
		switch s := m.byID[r.id]; {
		case r.head != "":
			st := m.theme.style(r.tone)
			st.Attr |= terminal.Bold
			a.text(2, y, -1, st, r.head)
		case r.id == "" || s == nil:
		case r.second:
			m.drawSecond(a, y, c, s)
		default:
			m.drawRow(a, y, c, s, m.groups[r.id].title != group)
			group = m.groups[r.id].title
		}
		if r.id != "" { // after the row is drawn, because its bar fills it
			a.mark(0, y, a.w, 1, target{session: r.id, up: "up", down: "down"})
		}
	}
	if len(all) > m.top+a.h {
		a.right(a.w, a.h-1, m.theme.style(accent), a.glyph(" ↓", " v"))
	}
	if m.top > 0 {
		a.right(a.w, 0, m.theme.style(accent), a.glyph(" ↑", " ^"))
	}
}

// drawTitles draws the titles of the columns.
func (m *Model) drawTitles(a area, c columns) {
	for _, t := range []struct {
		column
		title string
	}{{c.name, "NAME"}, {c.state, "STATE"}, {c.agent, "AGENT"}, {c.mode, "MODE"}, {c.doing, "DOING"}, {c.where, "FOLDER"}, {c.tags, "TAGS"}} {
		if t.w > 0 {
			a.text(t.x, 0, t.x+t.w, m.theme.style(faint), t.title)
		}
	}
	if c.age.w > 0 {
		a.right(c.age.x+c.age.w, 0, m.theme.style(faint), "FOR")
	}
}

// scroll moves the list so that the chosen session is in view, with the heading right above it.
func (m *Model) scroll(all []listRow, rows int) {
	first := max(slices.IndexFunc(all, func(r listRow) bool { return r.id == m.selected }), 0)
	last := first
	for last+1 < len(all) && all[last+1].second {
		last++
	}
	if first > 0 && all[first-1].head != "" {
		first--
	}
	m.top = min(m.top, first)
	m.top = max(m.top, last+1-rows)
	m.top = max(min(m.top, len(all)-rows), 0)
}

// rowStyle is how tones look in a session's row.
func (m *Model) rowStyle(s *sessions.Status) func(tone) terminal.Style {
	return func(of tone) terminal.Style {
		if s.ID == m.selected {
			return m.theme.selected(m.theme.style(of))
		}
		return m.theme.style(of)
	}
}

// drawBar marks the row of the chosen session.
func (m *Model) drawBar(a area, y int, s *sessions.Status, style func(tone) terminal.Style) {
	if s.ID == m.selected {
		a.fill(y, style(plain))
		a.put(0, y, 1, style(accent), a.glyph("▌", ">"))
	}
}

// drawRow draws a session. first is whether it is the first of its group in view.
func (m *Model) drawRow(a area, y int, c columns, s *sessions.Status, first bool) {
	t, style := m.theme, m.rowStyle(s)
	m.drawBar(a, y, s, style)
	look, name := lookOf(s.Now), plain
	switch {
	case m.marks[s.ID]:
		a.text(1, y, 2, style(accent), a.glyph("✓", "#"))
	case m.unseen(s):
		a.text(1, y, 2, style(accent), a.glyph("•", "+"))
	}
	switch {
	case m.lost(s) != nil:
		name = faint
	case m.unseen(s) || needs(s):
		name = strong
	}
	a.text(2, y, 3, style(look.tone), t.icon(s.Now))
	x := c.name.x
	if in := m.indent(s); in > 0 {
		x += in
		a.text(x-2, y, c.name.x+c.name.w, style(faint), a.glyph("└", " "))
	}
	a.text(x, y, c.name.x+c.name.w, style(name), s.Name)
	if c.state.w > 0 && first {
		a.text(c.state.x, y, c.state.x+c.state.w, style(look.tone), stateGroups[rank(s.Now)].name)
	}
	a.text(c.agent.x, y, c.agent.x+c.agent.w, style(faint), s.Agent)
	a.text(c.mode.x, y, c.mode.x+c.mode.w, style(faint), cut(modeOf(s), c.mode.w, a.ellipsis()))
	if c.doing.w >= leastDoing || !asks(s) { // otherwise the second row has it
		m.drawDoing(a, y, c.doing, s, style)
	}
	a.text(c.where.x, y, c.where.x+c.where.w, style(faint), folder(s, a.glyph("±", "+-")))
	a.text(c.tags.x, y, c.tags.x+c.tags.w, style(accent), tagsOf(s))
	switch since := age(m.now, s.Since); {
	case c.age.w > 0:
		a.right(c.age.x+c.age.w, y, style(faint), since)
	case a.w-1-x-len(s.Name) >= ageCols: // no column has room for the age, but this row does
		a.right(a.w-1, y, style(faint), since)
	}
}

// drawDoing draws what a session does, and who is attached to it.
func (m *Model) drawDoing(a area, y int, c column, s *sessions.Status, style func(tone) terminal.Style) {
	end := c.x + c.w
	if who := here(s, a.glyph("✎ ", "w:")); who != "" && c.w >= goodDoing {
		end = a.right(end, y, style(accent), cut(who, c.w/3, a.ellipsis())) - 2
	}
	d := doingOf(s, m.now)
	x := c.x
	if d.tool != "" {
		x = a.text(x, y, end, style(d.tone), a.spelled(d.tool))
		x = min(x+1, end)
	}
	of := faint
	if needs(s) {
		of = plain
	}
	if d.tool == "" && asks(s) {
		of = d.tone
	}
	a.text(x, y, end, style(of), a.spelled(d.text))
}

// drawSecond draws the row below a session that has no room in its own one for what it asks.
func (m *Model) drawSecond(a area, y int, c columns, s *sessions.Status) {
	style := m.rowStyle(s)
	m.drawBar(a, y, s, style)
	a.text(c.name.x+m.indent(s), y, a.w-1, style(plain), a.spelled(doingOf(s, m.now).String()))
}

// spelled is a text without the dots between its parts if the terminal knows only ASCII.
func (f *Frame) spelled(text string) string {
	if f.ascii {
		return strings.ReplaceAll(text, "·", "-")
	}
	return text
}

// modeOf is what the session's agent may do unasked, in its own word; empty if that isn't known.
func modeOf(s *sessions.Status) string {
	if s.Mode == nil {
		return ""
	}
	return *s.Mode
}

func tagsOf(s *sessions.Status) string {
	var words []string
	for _, t := range s.Tags {
		words = append(words, "#"+terminal.Printable(t))
	}
	return strings.Join(words, " ")
}

// drawNone says why the list is empty.
func (m *Model) drawNone(a area) {
	t := m.theme
	if m.filter.text != "" {
		a.text(2, 1, -1, t.style(plain), "Nothing matches the filter.")
		a.text(2, 2, -1, t.style(faint), "esc shows all sessions")
		return
	}
	a.text(2, 1, -1, t.style(strong), "No sessions yet")
	a.text(2, 2, -1, t.style(faint), "new NAME -- COMMAND starts one")
}

// age is how long ago a time was, in its largest unit. Seconds are shown in the first minute only,
// so that an idle picture changes once a minute.
func age(now, then time.Time) string {
	switch d := now.Sub(then); {
	case then.IsZero():
		return ""
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(int(d.Seconds()), 0))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	default:
		return fmt.Sprintf("%dd", int(d.Hours()/24))
	}
}
