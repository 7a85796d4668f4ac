package tui

import "unicode/utf8"

// helpKeys are the keys that work where the person is. Their texts are short, so that all of them fit on
// 80x24 in two columns.
func (m *Model) helpKeys() []hint {
	may, s := m.world.May, m.current()
	next := hint{"tab", "the next that needs input"}
	list := []hint{{"↑ ↓  jk gG", "select a session"}, next}
	if m.wall.up {
		list = []hint{{"↑ ↓  hjkl", "select a tile"}, next, {"z enter", "zoom, or back to tiles"}, {"W esc", "back to the list"}}
	}
	add := func(is bool, key, does string) {
		if is {
			list = append(list, hint{key, does})
		}
	}
	add(may["respond"], "a", "go there after an answer")
	add(may["attach"], "enter o", "attach; ctrl-] d: back")
	add(may["respond"], "1-9", "choose an option")
	add(may["respond"], "y d t", "allow; deny; type a reply")
	add(may["screen"], "s J K", "card or screen; scroll")
	add(may["screen"] && !m.wall.up, "< > z", "wide screen: scroll, wrap")
	add(may["nudge"], "m", "message to the agent")
	add(true, "space", "mark; acts are for all")
	for _, d := range actions() {
		add(may[d.verb] && (s == nil || m.may(d, s)), d.key, d.does)
	}
	add(may["screen"] && !m.wall.up, "W", "the Wall: live screens")
	add(m.mayStart(), "n", "start a session")
	return append(list,
		hint{":", "run any verb; tab completes"},
		hint{"/", "filter: name, #tag, state"},
		hint{"S", "group by state, folder, tag" + map[bool]string{true: ", host"}[len(m.world.Hosts) > 0]},
		hint{"b", "bell, notification or none"},
		hint{"M", "mouse on or off"},
		hint{"q esc", "back; q in the list: leave"},
		hint{"ctrl-c", "leave; sessions go on"},
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
	columns := max(min(body.w/38, 2), 1)
	rows := (len(keys) + columns - 1) / columns
	if body.h >= len(keys) {
		columns, rows = 1, len(keys)
	}
	each := body.w / columns
	wide := 13
	if each < 60 {
		wide = 11
	}
	lines := m.helpLines(keys, wide, each-wide-3, columns > 1, a.ellipsis())
	if columns == 1 {
		rows = len(lines)
	}
	if m.helpLast = max(rows-body.h, 0); m.helpLast > 0 {
		defer a.mark(0, 0, a.w, a.h, target{up: "up", down: "down", times: 3})
	}
	m.helpTop = min(m.helpTop, m.helpLast)
	for i, h := range lines {
		x, y := i/rows*each, i%rows-m.helpTop
		if y < 0 || y >= body.h {
			continue
		}
		body.text(x+2, y, x+2+wide-1, t.key(), h.key)
		body.text(x+2+wide, y, x+each, t.style(plain), h.does)
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
			h.key = "up/down jk"
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
