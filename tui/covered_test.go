package tui

import (
	"strings"
	"testing"
	"time"

	"berth/terminal/keyboard"
)

// TestCommandBarCoversACard: the words that may come next are drawn over the card's last rows, so a card
// that came up below them wasn't read.
func TestCommandBarCoversACard(t *testing.T) {
	m := asking(80, 24, permission())
	press(m, later, ":")
	for _, k := range "respond " {
		press(m, later, string(k))
	}
	q := m.command.question()
	m.Answer(Offered{Ask: q, from: len(q.text), words: strings.Fields(strings.Repeat("alpha-of-many-names ", 40))})
	r := permission()
	r.SetInput("echo one\necho two")
	other := asking(80, 24, r)
	other.world.Sessions[0].Request.ID = "p2"
	m.SetWorld(other.world, later)
	shows := func() {
		drawn(m)
		if m.Undrawn() {
			m.Drawn(1)
		}
		m.Shown(1, m.now.Add(-time.Hour))
	}
	shows()
	if m.readAll() || m.card.read > 0 {
		t.Errorf("%d of %d rows below the command bar were read", m.card.read, m.card.rows)
	}
	m.command = nil
	for _, key := range []string{"y", "d"} { // below the command bar the card wasn't asked about, so not even a refusal counts
		if e := m.Press(Key{Name: key, Text: key}, later); e != nil || m.edit != nil {
			t.Errorf("%s right after the command bar: %v, %v", key, e, m.edit)
		}
	}
	shows()
	if !m.readAll() {
		t.Errorf("without the command bar %d of %d rows were read", m.card.read, m.card.rows)
	}
}

// TestClickOnTheOldPicture: a click is for what was drawn under it. A yes to the confirmation doesn't answer the
// prompt that is there again after it, before the next picture.
func TestClickOnTheOldPicture(t *testing.T) {
	m := asking(80, 24, permission())
	m.world.May["kill"] = true
	p := pointing(t, m)
	p.over("", p.now.Add(-time.Hour))
	press(m, p.now, "X")
	yes, ok := p.over("yes", p.now.Add(-time.Hour))
	if !ok {
		t.Fatalf("no confirmation:\n%s", drawn(m))
	}
	click := func() Effect {
		p.m.Mouse(keyboard.MouseEvent{Button: keyboard.Left, What: keyboard.Press}, yes, p.now)
		return p.m.Mouse(keyboard.MouseEvent{Button: keyboard.Unnamed, What: keyboard.Release}, yes, p.now)
	}
	if got, _ := ran(t, click()); got != "kill id-alpha" {
		t.Fatalf("a click on yes runs %q", got)
	}
	if e := click(); e != nil {
		t.Errorf("the second click of a double click: %v", e)
	}
}
