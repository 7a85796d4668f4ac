package terminal

// history is the lines above the main screen, oldest first: a ring that grows
// up to max lines and then gives up its oldest for each new one.
type history struct {
	ring  []*Line
	first int
	max   int
}

func (h *history) len() int { return len(h.ring) }

func (h *history) at(i int) *Line {
	i += h.first
	if i >= len(h.ring) {
		i -= len(h.ring)
	}
	return h.ring[i]
}

// push adds a line and returns the one that had to go, nil when none had.
func (h *history) push(l *Line) *Line {
	if h.max <= 0 {
		return l
	}
	if len(h.ring) < h.max {
		h.ring = append(h.ring, l)
		return nil
	}
	old := h.ring[h.first]
	h.ring[h.first] = l
	if h.first++; h.first == len(h.ring) {
		h.first = 0
	}
	return old
}

func (h *history) clear() {
	h.ring, h.first = nil, 0
}

// lines is all of it as a slice of its own.
func (h *history) lines() []*Line {
	return append(append(make([]*Line, 0, len(h.ring)), h.ring[h.first:]...), h.ring[:h.first]...)
}

// set replaces the content with the last max of lines.
func (h *history) set(lines []*Line) {
	if len(lines) > h.max {
		lines = lines[len(lines)-max(h.max, 0):]
	}
	h.ring, h.first = append([]*Line(nil), lines...), 0
}
