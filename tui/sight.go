package tui

import "time"

// sight is how much of a card a person has had on the screen.
type sight struct {
	of     leaf
	asked  int       // by which question its terminal tells that it has drawn this; 0: not drawn yet
	at     time.Time // when it was asked
	since  time.Time // since when it is on the person's screen; zero: not yet
	met    bool      // a part of it was there for long enough, before more of it was drawn
	width  int       // that its rows are broken for
	rows   int       // that it has at this width
	read   int       // rows that have been drawn, from the first without a gap
	room   int       // rows that are drawn at once
	scroll int
	last   int // most that scroll may be
}

// stands is how long a card has to have been there before a key answers it: a
// person who has pressed a key for the card before has not read this one.
const stands = 300 * time.Millisecond

// answersWithin is how long a terminal that has answered before is given to say
// that it has drawn a card. On a slow way it may take seconds, and keys that were
// pressed at the card before come meanwhile.
const answersWithin = 10 * time.Second

// Undrawn says that a card is drawn of which the terminal is to be asked
// whether it shows it.
func (m *Model) Undrawn() bool {
	return m.card.asked == 0 && m.carded() && !m.help && m.page == nil && m.start == nil
}

// Drawn tells that the card's picture is sent, and behind it the n-th question
// to the terminal.
func (m *Model) Drawn(n int) { m.card.asked, m.card.at = n, m.now }

// Redraw tells that the person's screen shows nothing of this any more.
func (m *Model) Redraw() { m.card.asked, m.card.since, m.card.met = 0, time.Time{}, false }

// Shown tells that the terminal has drawn all that came before its n-th
// question.
func (m *Model) Shown(n int, now time.Time) {
	if m.card.asked > 0 && n >= m.card.asked && m.card.since.IsZero() {
		m.card.since = now
	}
}

// stood says whether the card has been on the person's screen for so long that a
// key is meant for it.
func (m *Model) stood() bool {
	if m.card.since.IsZero() {
		return m.card.asked > 0 && m.now.Sub(m.card.at) >= answersWithin
	}
	return m.now.Sub(m.card.since) >= stands
}

// fit takes in how wide the card is and how many rows it has: broken anew, it is
// read anew.
func (s *sight) fit(width, rows, room int) {
	if s.width != width || s.rows != rows {
		s.width, s.rows, s.read, s.scroll = width, rows, 0, 0
	}
	s.room, s.last = room, max(rows-room, 0)
	s.scroll = min(s.scroll, s.last)
}

// drew notes that the rows from scroll on are drawn with nothing over them. When some
// of them are new, the terminal is asked again when it shows them.
func (m *Model) drew() {
	c := &m.card
	through := min(c.scroll+c.room, c.rows)
	if c.scroll > c.read || through <= c.read {
		return
	}
	c.met = c.met || m.stood()
	c.read, c.asked, c.since = through, 0, time.Time{}
}

// scrollCard moves the card by half of its place, and never past rows that were not
// drawn yet.
func (m *Model) scrollCard(down bool) {
	step := max(min(m.layout().side.h/2, m.card.room-1), 1)
	if down {
		m.card.scroll = min(m.card.scroll+step, m.card.last, m.card.read)
		return
	}
	m.card.scroll = max(m.card.scroll-step, 0)
}

// toEnd is how the rest of a card is read.
const toEnd = "to the end first"

// readAll says that all of the card has been drawn at its present size.
func (m *Model) readAll() bool { return m.card.rows > 0 && m.card.read >= m.card.rows }
