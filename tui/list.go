package tui

import (
	"fmt"
	"strings"
	"time"

	"berth/agent"
	"berth/api"
	"berth/sessions"
	"berth/terminal"
)

// heightOf is how many lines a session takes: a second one says what it asks,
// or what went wrong.
func (m *Model) heightOf(s *sessions.Status) int {
	if s == nil {
		return 0
	}
	if m.second(s) != "" {
		return 2
	}
	return 1
}

// second is what the second line says; mostly there is none.
func (m *Model) second(s *sessions.Status) string {
	switch {
	case s.Now == agent.Prompt && s.Request != nil:
		return oneLine(s.Request.About())
	case s.Now == agent.InError && s.Failure != nil:
		return failure(s.Failure)
	}
	return ""
}

// failure is what went wrong, in a line.
func failure(f *api.Failure) string {
	class := strings.ReplaceAll(f.Class, "_", " ")
	switch {
	case f.Text == "":
		return class
	case f.Class == "other":
		return oneLine(f.Text)
	}
	return oneLine(class + ": " + f.Text)
}

// oneLine joins the words of a text.
func oneLine(s string) string { return terminal.Printable(strings.Join(strings.Fields(s), " ")) }

// doing is what a session does, in a word or two.
func doing(s *sessions.Status) string {
	if s.Now == agent.Working && s.Activity != nil {
		if s.Activity.Tool != "" {
			return oneLine(s.Activity.Tool)
		}
		return s.Activity.Kind
	}
	return ""
}

// age is how long ago, in its largest unit. Seconds would make an idle picture
// change all the time.
func age(now, then time.Time) string {
	switch d := now.Sub(then); {
	case then.IsZero():
		return ""
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	default:
		return fmt.Sprintf("%dd", int(d.Hours()/24))
	}
}

// here is who is attached.
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

// columns are where the parts of a line stand.
type columns struct {
	name, state, since, agent, title int  // first columns
	states, ages                     bool // there is room for them
}

// Widths of the columns beside the name: the word of a state, and an age.
const (
	nameMost  = 32 // the longest name there is
	stateCols = 8
	ageCols   = 4
)

func (m *Model) columns(w int) columns {
	longest := 8
	for _, s := range m.world.Sessions {
		longest = max(longest, len(s.Name))
	}
	c := columns{name: 4}
	// The name has its room before all else: sessions are told apart by it. The icon
	// has the state, and the line beside the screen has all of it.
	c.state = c.name + min(longest, nameMost, max(w-c.name-1, 1)) + 1
	c.since = c.state
	left := w - c.state
	if c.states = left >= stateCols+ageCols; c.states {
		c.since += stateCols
	}
	c.ages = left >= ageCols
	c.agent = c.since + 6
	c.title = c.agent + 8
	if w < 60 {
		c.title = c.agent // the agent is told beside its screen
	}
	return c
}

func (m *Model) drawList(a area) {
	if len(m.order) == 0 {
		m.drawNone(a)
		return
	}
	m.scroll(a.h)
	cols := m.columns(a.w)
	y := -m.top
	for _, id := range m.order {
		s := m.byID[id]
		h := m.heightOf(s)
		if y+h > 0 && y < a.h {
			m.drawRow(a, y, cols, s)
		}
		y += h
	}
	if below := y - a.h; below > 0 {
		a.right(a.w, a.h-1, m.theme.style(faint), a.glyph(" ↓", " v"))
	}
	if m.top > 0 {
		a.right(a.w, 0, m.theme.style(faint), a.glyph(" ↑", " ^"))
	}
}

// scroll brings the chosen session into view.
func (m *Model) scroll(rows int) {
	y, h := 0, 0
	for _, id := range m.order {
		h = m.heightOf(m.byID[id])
		if id == m.selected {
			break
		}
		y += h
	}
	m.top = min(m.top, y)
	m.top = max(m.top, y+h-rows)
	m.top = max(min(m.top, m.lines()-rows), 0)
}

func (m *Model) drawRow(a area, y int, c columns, s *sessions.Status) {
	t := m.theme
	style := func(of tone) terminal.Style {
		if s.ID == m.selected {
			return t.selected(t.style(of))
		}
		return t.style(of)
	}
	if s.ID == m.selected {
		for i := range m.heightOf(s) {
			a.fill(y+i, style(plain))
			if y+i >= 0 && y+i < a.h {
				a.put(0, y+i, 1, style(accent), a.glyph("▌", ">"))
			}
		}
	}
	state := lookOf(s.Now).tone
	if y >= 0 {
		if m.unseen(s) {
			a.text(1, y, 2, style(accent), a.glyph("•", "+"))
		}
		a.text(2, y, 3, style(state), t.icon(s.Now))
		name := plain
		if m.unseen(s) || s.Now == agent.Prompt {
			name = strong
		}
		a.text(c.name, y, c.state-1, style(name), s.Name)
		if c.states {
			a.text(c.state, y, c.since, style(state), string(s.Now))
		}
		switch {
		case c.ages:
			a.right(c.since+ageCols+1, y, style(faint), age(m.now, s.Since))
		case a.w-1-c.name-len(s.Name) >= ageCols: // no column has room for the age, but this line does
			a.right(a.w-1, y, style(faint), age(m.now, s.Since))
		}
		if c.agent < c.title {
			a.text(c.agent, y, c.title-1, style(faint), s.Agent)
		}
		m.drawRest(a, y, c.title, s, style)
	}
	if second := m.second(s); second != "" && y+1 < a.h && y+1 >= 0 {
		a.text(c.name, y+1, a.w-1, style(plain), second)
	}
}

// drawRest writes who is here and the tags at the end of the line, and in what
// is left the title.
func (m *Model) drawRest(a area, y, x int, s *sessions.Status, style func(tone) terminal.Style) {
	end := a.w - 1
	if who := here(s, a.glyph("✎ ", "w:")); who != "" && end-x > 12 {
		end = a.right(end, y, style(accent), cut(who, (end-x)/2, a.ellipsis())) - 2
	}
	if tags := m.tags(s); tags != "" && end-x > 12 {
		end = a.right(end, y, style(faint), cut(tags, (end-x)/2, a.ellipsis())) - 2
	}
	title := oneLine(s.Title)
	if d := doing(s); d != "" {
		title = strings.TrimSuffix(d+" · "+title, " · ")
	}
	if a.ascii {
		title = strings.ReplaceAll(title, "·", "-")
	}
	if end-x > 3 {
		a.text(x, y, end, style(faint), title)
	}
}

func (m *Model) tags(s *sessions.Status) string {
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
