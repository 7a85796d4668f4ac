package tui

import (
	"fmt"
	"slices"
	"time"

	"berth/sessions"
)

// wall is the Wall: live tiles of the listed or the marked sessions in place of the list. The focused tile is that of
// the selected session, so the card, the keys and the acts of the list work on it in its tile.
type wall struct {
	up     bool
	zoomed bool     // the focused tile covers the others
	marked bool     // there are tiles for marked sessions only
	places []string // ids in the order of their tiles, also of those that the filter hides
	tiles  []string // ids of the tiles, on all pages
}

// Sizes of tiles, with their title. A smaller one shows too little to be of use.
const (
	tileCols  = 30
	tileRows  = 8
	mostTiles = 12 // on one page
)

// tileTime is the minimum time between two pictures of a tile. The followers of all tiles wait for the
// same multiples of it, so that one drawing serves all tiles that have changed.
const tileTime = 250 * time.Millisecond

// openWall shows the tiles in the order of the list. If sessions are marked, only these have tiles.
func (m *Model) openWall() {
	if !m.world.May["screen"] {
		m.refuse("see sessions' screens", "screen")
		return
	}
	marked := slices.ContainsFunc(m.order, func(id string) bool { return m.marks[id] })
	m.wall, m.detail = wall{up: true, marked: marked}, false
	m.syncWall("")
	m.markSeen()
}

// syncWall gives each listed or marked session a tile, and the one that the person has focused. Tiles keep
// their places when the list is sorted again. If the focused session was removed, the focus goes to the tile
// that took its place.
func (m *Model) syncWall(focused string) {
	w := &m.wall
	if !w.up {
		return
	}
	if !m.world.May["screen"] {
		*w = wall{}
		return
	}
	before := slices.Index(w.tiles, focused)
	w.places = slices.DeleteFunc(w.places, func(id string) bool { return m.byID[id] == nil })
	for _, id := range m.order {
		if !slices.Contains(w.places, id) && (!w.marked || m.marks[id] || id == focused) {
			w.places = append(w.places, id)
		}
	}
	w.tiles = slices.DeleteFunc(slices.Clone(w.places), func(id string) bool { return !slices.Contains(m.order, id) })
	if n := len(w.tiles); n > 0 && !slices.Contains(w.tiles, focused) && (before >= 0 || !slices.Contains(w.tiles, m.selected)) {
		m.selected = w.tiles[min(max(before, 0), n-1)]
	}
}

// wallPage is the page with the focused tile: the index of its first tile, and the places of its tiles.
func (m *Model) wallPage() (first int, boxes []box) {
	body := box{0, 1, m.cols, max(m.rows-2, 0)}
	most := tilesIn(body)
	at := max(slices.Index(m.wall.tiles, m.selected), 0)
	first = at - at%most
	return first, spread(min(len(m.wall.tiles)-first, most), body)
}

// tilesIn is how many tiles an area has room for.
func tilesIn(in box) int {
	return min(max((in.w+1)/(tileCols+1), 1)*max(in.h/tileRows, 1), mostTiles)
}

// spread divides an area among n tiles. Of all numbers of columns it takes the one that shows most of
// screens of 80x24. Tiles of the last row are wider if there are fewer of them.
func spread(n int, in box) []box {
	rows, best := 0, 0.0
	for r := 1; r <= min(n, max(in.h/tileRows, 1)); r++ {
		c := (n + r - 1) / r
		w, h := (in.w-c+1)/c, in.h/r
		if c > 1 && w < tileCols {
			continue
		}
		if shows := min(float64(w)/80, 1) * min(float64(h)/24, 1); shows > best {
			rows, best = r, shows
		}
	}
	rows = max(rows, 1)
	var all []box
	for r, y := 0, in.y; r < rows; r++ {
		h := (in.y + in.h - y) / (rows - r)
		c := (n - len(all) + rows - r - 1) / (rows - r)
		for i, x := 0, in.x; i < c; i++ {
			w := (in.x + in.w - x - (c - i - 1)) / (c - i)
			all = append(all, box{x, y, w, h})
			x += w + 1
		}
		y += h
	}
	return all
}

// wallLayout is the layout of the Wall: the session is shown in its tile.
func (m *Model) wallLayout(body box) layout {
	l := layout{list: body, side: body, split: true, preview: m.selected != ""}
	if first, boxes := m.wallPage(); !m.wall.zoomed && len(boxes) > 0 {
		l.side = boxes[max(slices.Index(m.wall.tiles, m.selected), 0)-first]
	}
	return l
}

// Followed are the sessions whose screens are shown, and the minimum time between two pictures of each.
func (m *Model) Followed() map[string]time.Duration {
	all := map[string]time.Duration{}
	id := m.Wanted()
	if id == "" {
		return all
	}
	all[id] = frameTime
	if first, boxes := m.wallPage(); m.wall.up && !m.wall.zoomed {
		for _, id := range m.wall.tiles[first : first+len(boxes)] {
			all[id] = tileTime
		}
	}
	return all
}

// pressWall handles a key that moves the focus, zooms, or leaves the Wall. It returns false for other
// keys.
func (m *Model) pressWall(k Key) bool {
	w := &m.wall
	if !w.up {
		return false
	}
	n, at := len(w.tiles), max(slices.Index(w.tiles, m.selected), 0)
	page := tilesIn(box{0, 1, m.cols, max(m.rows-2, 0)})
	to := at
	switch k.Name {
	case "left", "h":
		to--
	case "right", "l":
		to++
	case "up", "k":
		to = m.beside(at, -1)
	case "down", "j":
		to = m.beside(at, 1)
	case "home", "g":
		to = 0
	case "end", "G":
		to = n - 1
	case "pgup", "ctrl+b":
		to -= page
	case "pgdown", "ctrl+f":
		to += page
	case "enter", "z":
		if w.zoomed && k.Name == "enter" {
			return false // it attaches
		}
		w.zoomed = !w.zoomed && n > 0
	case "esc", "q":
		if w.zoomed {
			w.zoomed = false
			break
		}
		*w = wall{}
	case "W":
		*w = wall{}
	default:
		return false
	}
	if w.up && n > 0 {
		m.selected = w.tiles[min(max(to, 0), n-1)]
		m.markSeen()
	}
	return true
}

// beside is the index of the tile above (by -1) or below (by 1) a tile. In a zoomed tile, and past the
// page's edge, it is the one before or after it.
func (m *Model) beside(at, by int) int {
	first, boxes := m.wallPage()
	if m.wall.zoomed || at-first >= len(boxes) {
		return at + by
	}
	from := boxes[at-first]
	to, best := -1, 0
	for i, b := range boxes {
		if (b.y-from.y)*by <= 0 {
			continue
		}
		off := b.x + b.w/2 - from.x - from.w/2
		far := (b.y-from.y)*by*m.cols + max(off, -off) // the nearest row, in it the nearest column
		if to < 0 || far < best {
			to, best = first+i, far
		}
	}
	switch {
	case to >= 0:
		return to
	case by > 0:
		return first + len(boxes) // the next page
	}
	return first - 1
}

// drawWall draws the page of tiles with the focused one, or the zoomed tile.
func (m *Model) drawWall(all area) {
	if len(m.wall.tiles) == 0 {
		m.drawNone(all.part(0, 1, m.cols, m.rows-2))
		return
	}
	if l := m.layout(); m.wall.zoomed {
		m.drawSession(all.part(l.side.x, l.side.y, l.side.w, l.side.h))
		return
	}
	first, boxes := m.wallPage()
	for i, b := range boxes {
		s := m.byID[m.wall.tiles[first+i]]
		a := all.part(b.x, b.y, b.w, b.h)
		if b.x+b.w < m.cols { // the line between it and the next one
			for y := range b.h {
				all.put(b.x+b.w, b.y+y, m.cols, m.theme.style(edge), all.glyph(map[bool]string{true: "┬", false: "│"}[y == 0], "|"))
			}
		}
		m.drawTile(a, s)
	}
}

// drawTile draws a tile: its title, and below it the end of the session's screen, or the card of the
// focused session.
func (m *Model) drawTile(a area, s *sessions.Status) {
	m.drawTileTitle(a.part(0, 0, a.w, 1), s)
	body := a.part(0, 1, a.w, a.h-1)
	opens := target{session: s.ID, up: "ctrl+b", down: "ctrl+f"}
	if s.ID == m.selected && m.carded() {
		a.mark(0, 0, a.w, 1, opens)
		m.drawCard(body, s)
		return
	}
	m.drawScreen(body, s)
	a.mark(0, 0, a.w, a.h, opens)
}

// drawTileTitle draws the state of a session, its name, what it does, and for how long.
func (m *Model) drawTileTitle(a area, s *sessions.Status) {
	style := m.rowStyle(s)
	if a.line(0, style(edge)); s.ID == m.selected {
		m.drawBar(a, 0, s, style)
	}
	end := a.w - 1
	if since := age(m.now, s.Since); since != "" {
		end = a.right(end, 0, style(faint), fmt.Sprintf(" %3s ", since))
	}
	name := plain
	if m.unseen(s) || needs(s) || s.ID == m.selected {
		name = strong
	}
	x := a.text(1, 0, end, style(lookOf(s.Now).tone), " "+m.theme.icon(s.Now)+" ")
	x = a.text(x, 0, end, style(name), s.Name+" ")
	d := doingOf(s, m.now)
	if d.tool != "" {
		x = a.text(x, 0, end, style(d.tone), a.spelled(d.tool)+" ")
	}
	of := faint
	if asks(s) && d.tool == "" {
		of = d.tone
	}
	if d.text != "" {
		a.text(x, 0, end, style(of), a.spelled(d.text)+" ")
	}
}

// pageOfWall says which tiles are shown if there are more. It is empty if all are.
func (m *Model) pageOfWall() string {
	if !m.wall.up || m.wall.zoomed {
		return ""
	}
	first, boxes := m.wallPage()
	if len(boxes) == len(m.wall.tiles) {
		return ""
	}
	return fmt.Sprintf("%d-%d of %d", first+1, first+len(boxes), len(m.wall.tiles))
}
