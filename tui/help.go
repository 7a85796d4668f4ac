package tui

import "unicode/utf8"

// helpKeys are the keys that work where the person is.
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
	add(may["attach"], "enter  a", "attach; ctrl-] d comes back here")
	add(!m.layout().split, "tab", "show the screen, or the list")
	add(may["respond"], "1-9", "choose an option of the question")
	add(may["respond"], "y  d  t", "allow; deny, with a reason; type a reply")
	add(may["screen"], "s  J K", "show the question or the screen; scroll the question")
	add(may["screen"], "< >  z", "of a wide terminal: scroll sideways; break its rows")
	add(may["nudge"], "m", "write a message to the agent")
	s := m.current()
	for _, d := range actions() {
		add(may[d.verb] && (s == nil || m.may(d, s)), d.key, d.does)
	}
	add(m.mayStart(), "n", "start a session: an agent, its folder, a worktree")
	return append(list,
		hint{"b", "bell, notification or nothing when a session starts to wait"},
		hint{":", "run a verb; tab completes, up brings back the last line"},
		hint{"M", "mouse on or off; with shift the terminal selects text"},
		hint{"/", "filter by name, #tag, state or agent; esc shows all"},
		hint{"q  ctrl-c", "leave; the sessions keep running"},
	)
}

// pressHelp scrolls the help page if it doesn't fit. Any other key closes it.
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
	if m.helpLast = max(rows-body.h, 0); m.helpLast > 0 {
		defer a.mark(0, 0, a.w, a.h, target{up: "up", down: "down", times: 3})
	}
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
		for _, g := range stateGroups {
			look := lookOf(g.states[0])
			x = body.text(x, y, -1, t.style(look.tone), t.icon(g.states[0])+" "+g.name) + 3
		}
		body.text(x, y, -1, t.style(accent), a.glyph("•", "+")+" not seen yet")
	}
}

// helpLines are the hints as they are drawn. A long description is broken into several lines.
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
