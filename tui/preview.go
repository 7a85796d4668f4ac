package tui

import (
	"cmp"
	"fmt"

	"berth/sessions"
	"berth/terminal"
	"berth/terminal/paint"
)

// preview is the screen of a session.
type preview struct {
	screen   *terminal.Snapshot // of the session screenOf
	screenOf string
	why      string // there is no screen
}

// SetScreen takes in the screen of a session, or why there is none.
func (p *preview) SetScreen(id string, s *terminal.Snapshot, why string) {
	p.screen, p.screenOf, p.why = s, id, why
}

// drawSession draws the chosen session: a line that says which it is, and its
// screen.
func (m *Model) drawSession(a area) {
	s := m.current()
	if s == nil {
		return
	}
	m.drawHead(a.part(0, 0, a.w, 1), s)
	body := a.part(0, 1, a.w, a.h-1)
	if m.carded() {
		if body.h > smallCard {
			body = body.part(0, 1, body.w, body.h-1)
		}
		m.drawCard(body, s)
		return
	}
	m.drawScreen(body, s)
}

func (m *Model) drawHead(a area, s *sessions.Status) {
	t := m.theme
	if !m.layout().beside {
		a.line(0, t.style(faint))
	}
	parts := []struct {
		text string
		tone tone
	}{{s.Name, strong}, {string(s.Now), lookOf(s.Now).tone}, {s.Agent, faint}, {fmt.Sprintf("%dx%d", s.Cols, s.Rows), faint}}
	if who := here(s, a.glyph("✎ ", "w:")); who != "" {
		parts = append(parts, struct {
			text string
			tone tone
		}{who, accent})
	}
	x := 1
	if !m.layout().beside {
		x = a.text(2, 0, -1, terminal.Style{}, " ")
	}
	for i, p := range parts {
		if i > 0 {
			x = a.text(x-1, 0, a.w-1, t.style(faint), a.glyph("· ", "- "))
		}
		if x+len(p.text) > a.w-2 {
			break
		}
		x = a.text(x, 0, a.w-1, t.style(p.tone), p.text)
		x = a.text(x, 0, a.w-1, terminal.Style{}, "  ")
	}
}

// drawScreen draws the part of the session's screen that matters: its end, or
// where the cursor is.
func (m *Model) drawScreen(a area, s *sessions.Status) {
	if m.screenOf != s.ID || m.screen == nil {
		if m.screenOf == s.ID && m.why != "" {
			a.text(1, 1, -1, m.theme.style(faint), m.why)
		}
		return
	}
	shot := m.screen
	top, left := crop(shot, a.w, a.h)
	for y := range a.h {
		a.fill(y, m.shown(terminal.Style{}, shot.Colors))
	}
	for y := range min(a.h, shot.Rows-top) {
		m.drawLine(a, y, shot.Lines[top+y], left, shot.Cols, shot.Colors)
	}
	cur := shot.Cursor
	if x, y := cur.Col-left, cur.Row-top; cur.Visible && x >= 0 && x < a.w && y >= 0 && y < a.h {
		c := a.at(x, y)
		st := a.palette.styles[c.style]
		st.Attr ^= terminal.Reverse
		c.style = a.palette.style(st)
	}
}

// crop gives the first row and column of a screen that an area shows.
func crop(s *terminal.Snapshot, cols, rows int) (top, left int) {
	last := 0
	for y, l := range s.Lines {
		if l.Text() != "" {
			last = y
		}
	}
	if s.Cursor.Visible {
		last = max(last, s.Cursor.Row)
	}
	top = max(last-rows+1, 0)
	if s.Cursor.Visible && s.Cursor.Row < top { // what matters is where one types
		top = max(s.Cursor.Row-rows/2, 0)
	}
	if s.Cursor.Visible && s.Cursor.Col >= cols {
		left = min(s.Cursor.Col-cols*2/3, max(s.Cols-cols, 0))
	}
	return top, left
}

func (m *Model) drawLine(a area, y int, line *terminal.Line, left, cols int, own terminal.Colors) {
	for x := range min(a.w, min(line.Len(), cols)-left) {
		c := line.Cell(left + x)
		if c.Width == 0 {
			if x == 0 { // the left half is cut off
				*a.at(x, y) = cell{ch: ' ', style: a.palette.style(m.shown(c.Style, own))}
			}
			continue
		}
		out := cell{ch: c.Rune, style: a.palette.style(m.shown(c.Style, own)), wide: c.Width == 2}
		text := string(c.Rune) + c.Rest
		_, rest, width := terminal.NextCluster(text)
		switch {
		case c.Style.Attr&terminal.Hidden != 0, c.Rune == 0 || c.Rune == ' ' || rest != "" || width != c.Width || out.wide && x == a.w-1:
			out.ch, out.wide = ' ', false
		case terminal.Printable(text) != text:
			out.ch = '\uFFFD'
		case c.Rest != "":
			out.ch = a.palette.cluster(text)
		}
		*a.at(x, y) = out
		if out.wide {
			*a.at(x+1, y) = cell{style: out.style}
		}
	}
}

// shown is a style of a session's screen as the dashboard shows it: no links,
// nothing that blinks. Programs draw for a dark background, which is what they are told
// that they have: on a light terminal it is drawn.
func (m *Model) shown(s terminal.Style, own terminal.Colors) terminal.Style {
	s.Link = ""
	s.Attr &^= terminal.Blink | terminal.Hidden
	if m.theme.light && m.theme.depth != paint.DepthNone {
		if s.Fg == terminal.DefaultColor {
			s.Fg = cmp.Or(own.Foreground, terminal.PlainForeground)
		}
		if s.Bg == terminal.DefaultColor {
			s.Bg = cmp.Or(own.Background, terminal.PlainBackground)
		}
	}
	return s
}
