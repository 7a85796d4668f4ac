package tui

import "unicode/utf8"

// helpKeys are the keys that do something in the place where the person is.
func (m *Model) helpKeys() []hint {
	list := []hint{
		{"↑ ↓  j k  g G", "choose a session; the first, the last"},
	}
	add := func(is bool, key, does string) {
		if is {
			list = append(list, hint{key, does})
		}
	}
	may := m.world.May
	add(may["attach"], "enter  a", "attach to it; ctrl-] d comes back here")
	add(!m.layout().split, "tab", "its screen, or the list")
	add(may["respond"], "1-9", "choose an option of what is asked")
	add(may["respond"], "y  d  t", "yes; no, with a reason; in your own words")
	add(may["screen"], "s  J K", "question or screen; scroll the question")
	add(may["nudge"], "n", "write a message to the agent")
	s := m.current()
	for _, d := range deeds() {
		add(may[d.verb] && (s == nil || m.may(d, s)), d.key, d.does)
	}
	add(m.mayStart(), "N", "start a session")
	return append(list,
		hint{"b", "bell, notification or nothing when one begins to wait"},
		hint{"/", "filter by name, #tag, state or agent; esc shows all"},
		hint{"q  ctrl-c", "leave; the sessions go on"},
	)
}

// pressHelp scrolls help as far as it does not fit; any other key leaves it.
func (m *Model) pressHelp(k Key) {
	switch k.Name {
	case "down", "j", "pgdown", " ":
		m.helpTop++
	case "up", "k", "pgup":
		m.helpTop--
	default:
		m.help = false
		return
	}
	if m.helpLast == 0 {
		m.help = false
	}
	m.helpTop = min(max(m.helpTop, 0), m.helpLast)
}

func (m *Model) drawHelp(a area) {
	t := m.theme
	keys := m.helpKeys()
	body := a.part(0, 1, a.w, a.h-1)
	if a.h < len(keys)+2 {
		body = a
	} else {
		a.text(2, 0, -1, t.style(strong), "Keys")
	}
	columns := max(min(body.w/60, 2), 1)
	rows := (len(keys) + columns - 1) / columns
	if body.h >= len(keys) {
		columns, rows = 1, len(keys)
	}
	wide := 18
	if a.w < 60 {
		wide = 11
	}
	lines := m.helpLines(keys, wide, body.w-wide-3, columns > 1, a.ellipsis())
	if columns == 1 {
		rows = len(lines)
	}
	m.helpLast = max(rows-body.h, 0)
	m.helpTop = min(m.helpTop, m.helpLast)
	for i, h := range lines {
		x, y := i/rows*60, i%rows-m.helpTop
		if y < 0 || y >= body.h {
			continue
		}
		body.text(x+2, y, x+2+wide-1, t.key(), h.key)
		body.text(x+2+wide, y, -1, t.style(plain), h.does)
	}
	if left := body.h - rows; columns == 1 && left >= 3 {
		y := rows + 1
		x := 2
		for _, c := range counts {
			look := lookOf(c.states[0])
			x = body.text(x, y, -1, t.style(look.tone), t.icon(c.states[0])+" "+c.one) + 3
		}
		body.text(x, y, -1, t.style(accent), a.glyph("•", "+")+" not seen yet")
	}
}

// helpLines are the hints as they are drawn: what a key does is broken where
// there is little room.
func (m *Model) helpLines(keys []hint, wide, room int, whole bool, ellipsis string) []hint {
	var list []hint
	for _, h := range keys {
		if r, _ := utf8.DecodeRuneInString(h.key); m.theme.ascii && r > 0x7f {
			h.key = "up down  j k  g G"
		}
		h.key = cut(h.key, wide-1, ellipsis)
		if whole {
			list = append(list, h)
			continue
		}
		for i, text := range wrap(h.does, room) {
			if i > 0 {
				h.key = ""
			}
			list = append(list, hint{h.key, text})
		}
	}
	return list
}
