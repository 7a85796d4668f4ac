package tui

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"time"

	"berth/sessions"
	"berth/terminal"
	"berth/terminal/paint"
)

// preview is the screens of the sessions that are shown.
type preview struct {
	pictures map[string]screenshot // by session
	pan      pan                   // of the chosen one
}

// screenshot is the screen of a session, or why there is none.
type screenshot struct {
	screen *terminal.Snapshot
	why    string
}

// SetScreen sets the screen of a session, or why there is none.
func (p *preview) SetScreen(id string, s *terminal.Snapshot, why string) {
	if p.pictures == nil {
		p.pictures = map[string]screenshot{}
	}
	p.pictures[id] = screenshot{s, why}
}

// KeepScreens forgets the screens of all other sessions.
func (p *preview) KeepScreens(of map[string]time.Duration) {
	maps.DeleteFunc(p.pictures, func(id string, _ screenshot) bool { _, kept := of[id]; return !kept })
}

// drawSession draws the chosen session: a line with its name and state, and its screen or prompt.
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
	if s.Exit != nil && !away(s) { // its host knows how it ended
		rows := m.drawEnded(body, s)
		body = body.part(0, rows, body.w, body.h-rows)
	}
	m.drawScreen(body, s)
}

// drawEnded draws how the session's program ended, above its last screen. It returns how many rows that
// took.
func (m *Model) drawEnded(a area, s *sessions.Status) (rows int) {
	words := endWords(s, m.now)
	if m.world.May["restart"] {
		words = append(words, run{faint, "R restarts it"})
	}
	for _, r := range words {
		for _, text := range wrap(a.spelled(r.text), a.w-2) {
			if rows < max(a.h/3, 1) {
				a.text(1, rows, -1, m.theme.style(r.tone), text)
				rows++
			}
		}
	}
	return rows
}

// folder is the name of the session's folder, with its branch and how many files are changed in it.
func folder(s *sessions.Status, changed string) string {
	if s.Cwd == "" {
		return ""
	}
	where := path.Base(s.Cwd)
	if s.Look == nil {
		return where
	}
	where += " " + cmp.Or(s.Look.Branch, "(detached)")
	if s.Look.Changed > 0 {
		where += fmt.Sprintf(" %s%d", changed, s.Look.Changed)
	}
	return where
}

// drawHead draws the name of the session and what is known of it, on the line above its screen.
func (m *Model) drawHead(a area, s *sessions.Status) {
	t, framed := m.theme, m.layout().beside
	parts := []run{{strong, s.Name}, {lookOf(s.Now).tone, stateGroups[rank(s.Now)].name}, {faint, s.Agent}}
	if mode := modeOf(s); mode != "" {
		parts = append(parts, run{faint, mode})
	}
	if where := folder(s, a.glyph("±", "+-")); where != "" {
		parts = append(parts, run{faint, where})
	}
	if who := here(s, a.glyph("✎ ", "w:")); who != "" {
		parts = append(parts, run{accent, who})
	}
	parts = append(parts, run{faint, fmt.Sprintf("%dx%d", s.Cols, s.Rows)})
	x := 1
	if !framed {
		a.line(0, t.style(edge))
		x = 2
	}
	x = a.text(x, 0, -1, terminal.Style{}, " ")
	for i, p := range parts {
		if x+1+terminal.StringWidth(p.text) > a.w-2 {
			break
		}
		if i > 0 {
			x = a.text(x, 0, a.w-1, t.style(edge), a.glyph("· ", "- "))
		}
		x = a.text(x, 0, a.w-1, t.style(p.tone), p.text)
		x = a.text(x, 0, a.w-1, terminal.Style{}, " ")
	}
}

// drawScreen draws the part of the session's screen with the cursor, or its end.
func (m *Model) drawScreen(a area, s *sessions.Status) {
	shot := m.pictures[s.ID].screen
	if shot == nil {
		lines := []string{m.pictures[s.ID].why}
		if away(s) {
			lines = wrap(m.elsewhere(s), a.w-2)
		}
		for y, text := range lines {
			a.text(1, 1+y, -1, m.theme.style(faint), text)
		}
		return
	}
	top, left := crop(shot, a.w, a.h)
	if s.ID == m.selected {
		left = m.pan.fit(s.ID, left, shot.Cols, a.w)
	}
	for y := range a.h {
		a.fill(y, m.shown(terminal.Style{}, shot.Colors))
	}
	if m.pan.wrap && shot.Cols > a.w {
		m.drawWrapped(a, shot)
		return
	}
	for y := range min(a.h, shot.Rows-top) {
		m.drawLine(a, y, shot.Lines[top+y], left, shot.Cols, shot.Colors)
	}
	cur := shot.Cursor
	m.drawCursor(a, cur.Col-left, cur.Row-top, cur.Visible)
	if m.pan.by && s.ID == m.selected {
		a.right(a.w-1, a.h-1, m.theme.style(accent), fmt.Sprintf(" columns %d-%d of %d ", left+1, min(left+a.w, shot.Cols), shot.Cols))
	}
}

// drawCursor draws the session's cursor, if it is in the area.
func (m *Model) drawCursor(a area, x, y int, visible bool) {
	if visible && x >= 0 && x < a.w && y >= 0 && y < a.h {
		c := a.at(x, y)
		st := a.palette.styles[c.style]
		st.Attr ^= terminal.Reverse
		c.style = a.palette.style(st)
	}
}

// crop returns the first row and column of a screen to draw in an area.
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
	if s.Cursor.Visible && s.Cursor.Row < top { // show the row with the cursor rather than the end
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

// shown is a style of a session's screen as the dashboard draws it: no links, no blinking, and on the
// background that the program has set. Berth reports a dark background to programs, and they draw for it.
// So a light terminal gets that background where the program has set none.
func (m *Model) shown(s terminal.Style, own terminal.Colors) terminal.Style {
	s.Link = ""
	s.Attr &^= terminal.Blink | terminal.Hidden
	if m.theme.depth == paint.DepthNone {
		return s
	}
	if m.theme.light {
		own.Foreground = cmp.Or(own.Foreground, terminal.PlainForeground)
		own.Background = cmp.Or(own.Background, terminal.PlainBackground)
	}
	if s.Fg == terminal.DefaultColor {
		s.Fg = own.Foreground
	}
	if s.Bg == terminal.DefaultColor {
		s.Bg = own.Background
	}
	return s
}
