package tui

import (
	"fmt"
	"strings"
	"time"

	"berth/terminal/keyboard"
)

// target is what a part of the picture does under the mouse. What draws the part marks its cells with it,
// so the picture itself says what is where.
type target struct {
	session  string // a click chooses it, a double click attaches
	key      string // a click presses it
	of       string // what the key belongs to, such as a prompt
	card     bool   // the key is the card's, which gets no keys while the person writes
	up, down string // keys that the wheel presses
	times    int    // how often it presses them; 0: once
	talk     bool   // a click chooses a row of the conversation, and folds or unfolds its block
	row      spot   // that row

	x, y int // first cell
}

// mark makes cells of the area belong to a target. Text that is drawn over them later does too, until a
// row is filled or the frame is cleared.
func (a area) mark(x, y, w, h int, t target) {
	part := a.part(x, y, w, h)
	if y < 0 {
		part = a.part(x, 0, w, h+y)
	}
	if len(a.targets) == 255 || part.w <= 0 || part.h <= 0 { // more than any picture has
		return
	}
	t.x, t.y = part.x, part.y
	a.targets = append(a.targets, t)
	for y := range part.h {
		for x := range part.w {
			part.at(x, y).target = uint8(len(a.targets))
		}
	}
}

// targetAt is what is drawn at a cell of the frame.
func (f *Frame) targetAt(x, y int) target {
	if x < 0 || y < 0 || x >= f.cols || y >= f.rows || f.cells[y*f.cols+x].target == 0 {
		return target{}
	}
	return f.targets[f.cells[y*f.cols+x].target-1]
}

// mouse is what the dashboard knows of the person's mouse or finger.
type mouse struct {
	off     bool // the terminal keeps its mouse
	pressed target
	chosen  string    // the session of the last click
	at      time.Time // of that click
	drawn   map[target]*stamp
	unasked bool // drawn has new keys: the terminal must be asked when it shows them
}

// stamp says since when the terminal shows a key that can be clicked. Until it has shown it for
// settleTime, a click is meant for what was there before.
type stamp struct {
	asked int       // number of the query to the terminal after this picture; 0: not asked yet
	at    time.Time // when the query was sent
	since time.Time // since when the terminal shows it; zero: not yet
}

// doubleTime is the time between the clicks of a double click. On a touch screen they are slower than
// with a mouse.
const doubleTime = 500 * time.Millisecond

// SetTargets says what is drawn now.
func (m *Model) SetTargets(list []target) {
	was := m.mouse.drawn
	m.mouse.drawn, m.mouse.unasked = make(map[target]*stamp, len(list)), false
	if m.mouse.off {
		return
	}
	for _, t := range list {
		if t.key == "" {
			continue
		}
		s := was[t]
		if s == nil {
			s = &stamp{}
		}
		m.mouse.drawn[t] = s
		m.mouse.unasked = m.mouse.unasked || s.asked == 0
	}
}

// ask records that the n-th query to the terminal was sent after the picture.
func (u *mouse) ask(n int, now time.Time) {
	u.unasked = false
	for _, s := range u.drawn {
		if s.asked == 0 {
			s.asked, s.at = n, now
		}
	}
}

// answer records that the terminal has drawn everything before the n-th query.
func (u *mouse) answer(n int, now time.Time) {
	for _, s := range u.drawn {
		if s.asked > 0 && n >= s.asked && s.since.IsZero() {
			s.since = now
		}
	}
}

// clickable reports whether the terminal has shown the key for long enough that a click is meant for it.
func (u *mouse) clickable(t target, now time.Time) bool {
	s := u.drawn[t]
	switch {
	case s == nil:
		return false
	case s.since.IsZero():
		return s.asked > 0 && now.Sub(s.at) >= answersWithin
	}
	return now.Sub(s.since) >= settleTime
}

// Mouse handles an event of the mouse over a target. A click is a press and a release on the same target,
// as a finger makes it, and counts at the release: then nothing of it is left for a session's terminal.
func (m *Model) Mouse(e keyboard.MouseEvent, t target, now time.Time) Effect {
	if m.mouse.off || e.Mods&keyboard.Shift != 0 { // with Shift, the terminal selects text
		return nil
	}
	switch {
	case e.What == keyboard.Press && (e.Button == keyboard.WheelUp || e.Button == keyboard.WheelDown):
		return m.wheel(t, e.Button == keyboard.WheelUp, now)
	case e.What == keyboard.Press:
		m.mouse.pressed = target{}
		if e.Button == keyboard.Left {
			m.mouse.pressed = t
		}
	case e.What == keyboard.Release && (e.Button == keyboard.Left || e.Button == keyboard.Unnamed):
		pressed := m.mouse.pressed
		m.mouse.pressed = target{}
		if pressed == t {
			return m.click(t, now)
		}
	}
	return nil
}

// busyWriting reports whether keys belong to something that the mouse can't be meant for.
func (m *Model) busyWriting() bool {
	return m.edit != nil || m.confirm != nil || m.start != nil || m.command != nil
}

func (m *Model) wheel(t target, up bool, now time.Time) (effect Effect) {
	name := t.down
	if up {
		name = t.up
	}
	if name == "" || m.busyWriting() || m.filter.typing {
		return nil
	}
	for range max(t.times, 1) {
		effect = m.Press(Key{Name: name}, now)
	}
	return effect
}

func (m *Model) click(t target, now time.Time) Effect {
	switch {
	case t.card && (m.busyWriting() || m.filter.typing):
		return nil
	case t.key != "":
		if t.of != m.context() || !m.mouse.clickable(t, now) { // the next picture may not be drawn yet
			m.now, m.touched = now, now
			m.Flash("this has just appeared: click again", waits)
			return nil
		}
		k := Key{Name: t.key}
		if len(t.key) == 1 {
			k.Text = t.key
		}
		return m.Press(k, now)
	case t.talk:
		m.now, m.touched = now, now
		m.clickTalk(t.row)
		return nil
	case t.session == "": // such as a message, which may cover a hint
		if !now.Before(m.flash.until) {
			m.flash = flash{}
		}
		return nil
	}
	m.now, m.touched = now, now
	if m.astray() {
		return nil
	}
	if m.busyWriting() {
		m.Flash("esc closes this first; then click", waits)
		return nil
	}
	if !now.Before(m.flash.until) {
		m.flash = flash{}
	}
	m.filter.typing = false
	double := m.mouse.chosen == t.session && m.selected == t.session && now.Sub(m.mouse.at) <= doubleTime
	m.mouse.chosen, m.mouse.at = t.session, now
	m.Select(t.session)
	if double {
		m.mouse.chosen = ""
		return m.attach(Key{Name: "o"})
	}
	return nil
}

// switchMouse gives the mouse to the dashboard, or back to the terminal.
func (m *Model) switchMouse() {
	m.mouse.off = !m.mouse.off
	if m.mouse.off {
		m.Flash("mouse off: the terminal selects text again; M turns it on", faint)
		return
	}
	m.Flash("mouse on: click, double click, wheel; shift selects text", faint)
}

// keyOfHint is the key that a click on a hint presses; empty if the hint names several keys of different
// effect.
func keyOfHint(h hint) string {
	name := strings.ReplaceAll(h.key, "↵", "enter")
	switch name {
	case "any key", "any other key":
		return "esc"
	case "J/K or PageDown":
		return "J"
	}
	if strings.Contains(name, " ") || len(name) > 1 && name[0] >= '1' && name[0] <= '9' {
		return ""
	}
	for _, mod := range []string{"alt", "ctrl"} {
		if rest, ok := strings.CutPrefix(name, mod+"-"); ok {
			return mod + "+" + rest
		}
	}
	return name
}

// context is what the keys of the picture belong to now. A key that is drawn at the same place for
// something else is another target.
func (m *Model) context() string {
	c := m.selected + " " + m.card.prompt + " " + m.card.digest + fmt.Sprint(m.card.leaf)
	switch {
	case m.help:
		return "help"
	case m.confirm != nil:
		return "confirm " + m.confirm.text
	case m.talk != nil:
		return "talk " + m.talk.id
	case m.page != nil:
		return "page " + m.page.act.title
	case m.start != nil:
		return "start"
	case m.edit != nil:
		return "edit " + c
	case m.wall.up:
		return fmt.Sprint("wall ", m.wall.zoomed, c)
	}
	return c
}
