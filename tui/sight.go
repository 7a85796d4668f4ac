package tui

import "time"

// sight records how much of a card the person's terminal has shown. A key that allows something
// counts only for what the person could read.
type sight struct {
	of     leaf
	asked  int       // number of the query to the terminal after this picture; 0: not drawn yet
	at     time.Time // when the query was sent
	since  time.Time // since when the terminal shows the card; zero: not yet
	met    bool      // the terminal showed a part of it for settleTime before more was drawn
	width  int       // the width that the rows are broken for
	rows   int       // number of rows at this width
	read   int       // rows that were drawn, from the first without a gap
	room   int       // rows that fit at once
	scroll int
	last   int // maximum of scroll
}

// settleTime is how long the terminal must have shown a card before a key answers it. A key that
// comes earlier was meant for the card before.
const settleTime = 300 * time.Millisecond

// answersWithin limits the wait for the terminal's report that it has drawn a card. Over a slow
// connection the report may take seconds, and keys for the card before arrive meanwhile.
const answersWithin = 10 * time.Second

// Undrawn reports whether the terminal must be asked if it shows the current card, or the keys that can
// be clicked.
func (m *Model) Undrawn() bool { return m.mouse.unasked || m.cardUndrawn() }

func (m *Model) cardUndrawn() bool {
	return m.card.asked == 0 && m.carded() && !m.help && m.talk == nil && m.page == nil && m.start == nil && m.command == nil
}

// Drawn records that the picture was sent, and after it the n-th query to the terminal.
func (m *Model) Drawn(n int) {
	if m.cardUndrawn() {
		m.card.asked, m.card.at = n, m.now
	}
	m.mouse.ask(n, m.now)
}

// Redraw records that the terminal no longer shows the picture.
func (m *Model) Redraw() {
	m.card.asked, m.card.since, m.card.met = 0, time.Time{}, false
	m.mouse.drawn = nil
}

// Shown records that the terminal has drawn everything before the n-th query.
func (m *Model) Shown(n int, now time.Time) {
	if m.card.asked > 0 && n >= m.card.asked && m.card.since.IsZero() {
		m.card.since = now
	}
	m.mouse.answer(n, now)
}

// settled reports whether the terminal has shown the card for long enough that a key is meant for it.
func (m *Model) settled() bool {
	if m.card.since.IsZero() {
		return m.card.asked > 0 && m.now.Sub(m.card.at) >= answersWithin
	}
	return m.now.Sub(m.card.since) >= settleTime
}

// tooSoon reports whether a key that is drawn, in a card or in the last row, does nothing yet because of what
// has just changed.
func (m *Model) tooSoon(key string, card bool) bool {
	name := keyOfHint(hint{key: key})
	if key != "" && key[0] >= '1' && key[0] <= '9' {
		name = key[:1]
	}
	s := m.current()
	switch kind := kindOf(name); {
	case m.strays():
		return true
	case name == "o" || name == "m" || name == "enter" && !card:
		return m.inList() && m.justMoved()
	case card && kind != "" && s != nil && s.Request != nil:
		return m.tooEarly(s.Request, kind) == justUp
	}
	return false
}

// settles is when the first of the keys that do nothing yet works; zero if none is waited for.
func (m *Model) settles() (first time.Time) {
	all := []time.Time{m.strayed.Add(settleTime), m.moved.Add(settleTime), m.card.since.Add(settleTime)}
	if m.card.asked > 0 && m.card.since.IsZero() {
		all = append(all, m.card.at.Add(answersWithin))
	}
	for _, t := range all {
		if t.After(m.now) && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return first
}

// fit sets the card's width and number of rows. When either changes, the person must read the card
// again.
func (s *sight) fit(width, rows, room int) {
	if s.width != width || s.rows != rows {
		s.width, s.rows, s.read, s.scroll = width, rows, 0, 0
	}
	s.room, s.last = room, max(rows-room, 0)
	s.scroll = min(s.scroll, s.last)
}

// markRead records that the rows from scroll on were drawn uncovered. If some of them are new, the
// terminal is asked again when it shows them.
func (m *Model) markRead() {
	c := &m.card
	through := min(c.scroll+c.room, c.rows)
	if c.scroll > c.read || through <= c.read {
		return
	}
	c.met = c.met || m.settled()
	c.read, c.asked, c.since = through, 0, time.Time{}
}

// scrollCard scrolls the card by half a page, and never past rows that were not drawn yet.
func (m *Model) scrollCard(down bool) {
	step := max(min(m.layout().side.h/2, m.card.room-1), 1)
	if down {
		m.card.scroll = min(m.card.scroll+step, m.card.last, m.card.read)
		return
	}
	m.card.scroll = max(m.card.scroll-step, 0)
}

// toEnd says what the scroll keys are for while a part of the card is unread.
const toEnd = "to the end first"

// readAll reports whether all of the card was drawn at its current size.
func (m *Model) readAll() bool { return m.card.rows > 0 && m.card.read >= m.card.rows }
