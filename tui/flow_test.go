package tui

import (
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/api"
	"berth/sessions"
)

// waiting is a session that asks for a permission, since some minutes ago.
func waiting(name string, minutes int) *sessions.Status {
	s := at(name, agent.Prompt, minutes)
	s.Request = permission()
	s.Request.ID = "p-" + name
	return s
}

var answerer = Rights{"attach": true, "screen": true, "respond": true, "nudge": true, "kill": true}

// queue is a dashboard of two sessions that wait and one that doesn't.
func queue(cols, rows int) *Model {
	return started(cols, rows, World{May: answerer, Sessions: []*sessions.Status{waiting("first", 9), waiting("second", 5), at("idle", agent.Idle, 1)}})
}

func TestNextWaiting(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {40, 12}} {
		m := queue(size[0], size[1])
		for _, c := range []struct{ key, want string }{{"tab", "id-second"}, {"tab", "id-first"}, {"shift+tab", "id-second"}} {
			if press(m, later, c.key); m.selected != c.want || !m.carded() {
				t.Errorf("%v: %s leads to %s, with its card %v", size, c.key, m.selected, m.carded())
			}
		}
	}
	m := queue(80, 24)
	if rows := drawn(m); !strings.Contains(rows, "tab next waiting") {
		t.Errorf("no key for the next one in\n%s", rows)
	}
	press(m, later, "/", "f", "i", "r", "enter", "tab")
	if m.selected != "id-first" || !strings.Contains(m.flash.text, "the filter hides 1 that need input") {
		t.Errorf("with a filter: %s, %q", m.selected, m.flash.text)
	}
	m.SetWorld(World{May: answerer, Sessions: []*sessions.Status{at("idle", agent.Idle, 1)}}, later)
	if press(m, later, "esc", "tab"); m.flash.text != "no session needs input" {
		t.Errorf("with nothing to answer: %q", m.flash.text)
	}
}

// TestGoesOnByItself: after an answer the next session is selected if the person wants that, and no key for
// the session before does anything there.
func TestGoesOnByItself(t *testing.T) {
	m := queue(80, 24)
	a, ok := press(m, later, "y").(Act)
	if !ok {
		t.Fatal("y doesn't answer")
	}
	if m.Finish(Done{Act: a, Out: `{"outcome":"accepted","confirmed":true}`}, later); m.selected != "id-first" {
		t.Errorf("without being asked to, it goes to %s", m.selected)
	}
	press(m, later, "a")
	if rows := drawn(m); !m.advance || !m.chosen().Advance || !strings.Contains(rows, "enter or o attaches") {
		t.Errorf("a doesn't say what it does:\n%s", rows)
	}
	// A person who is used to attach with a types for the session.
	if e := m.Press(Key{Name: "X", Text: "X"}, later.Add(settleTime-1)); e != nil || m.confirm != nil || m.flash.text != noAttach {
		t.Errorf("X right after a: %v, %q", e, m.flash.text)
	}
	if press(m, later.Add(2*settleTime), "a"); m.advance {
		t.Error("a doesn't turn it off")
	}
	m = queue(80, 24)
	m.choose(Choices{Advance: true})
	a = press(m, later, "y").(Act)
	if m.Finish(Done{Act: a, Status: 6, Out: `{"error":{"code":"STALE_PROMPT","message":"gone"}}`}, later); m.selected != "id-first" {
		t.Errorf("after a refusal it goes to %s", m.selected)
	}
	a = press(m, later, "y").(Act)
	m.Finish(Done{Act: a, Out: `{"outcome":"accepted","confirmed":true}`}, later)
	if m.selected != "id-second" || !strings.Contains(m.flash.text, "first: accepted, confirmed · next: second") {
		t.Errorf("after the answer %s is selected: %q", m.selected, m.flash.text)
	}
	// The terminal has not drawn the next card yet, or has just drawn it.
	keys := []string{"y", "1", "d", "enter", "o", "X", "m"}
	for _, wait := range []time.Duration{0, settleTime / 2, 2 * settleTime} {
		for _, k := range keys {
			if e := m.Press(Key{Name: k, Text: k}, later.Add(wait)); e != nil || m.edit != nil || m.confirm != nil {
				t.Errorf("%s, %v after it went on and before the card is drawn: %v", k, wait, e)
			}
		}
	}
	at := later.Add(3 * settleTime)
	shown(m, at)
	for _, k := range keys {
		if e := m.Press(Key{Name: k, Text: k}, at.Add(settleTime-1)); e != nil || m.edit != nil || m.confirm != nil {
			t.Errorf("%s right after the card was drawn: %v", k, e)
		}
	}
	if a, ok := m.Press(Key{Name: "y", Text: "y"}, at.Add(settleTime)).(Act); !ok || a.Session != "id-second" {
		t.Errorf("y on the next card does %v", a)
	}
}

// TestStaysWithThePerson: an answer's result doesn't take the person away from what they do meanwhile.
func TestStaysWithThePerson(t *testing.T) {
	for _, key := range []string{"m", "?", ":", "/", "X", "j"} {
		m := queue(80, 24)
		m.world.May["kill"] = true
		m.world.Sessions[0].Driven = true
		m.choose(Choices{Advance: true})
		a := press(m, later, "y").(Act)
		press(m, later, key)
		was := m.selected
		if m.Finish(Done{Act: a, Out: `{"outcome":"accepted","confirmed":true}`}, later); m.selected != was {
			t.Errorf("after %s it goes to %s", key, m.selected)
		}
	}
}

// TestQGoesBack: q quits from the list only.
func TestQGoesBack(t *testing.T) {
	m := queue(40, 12)
	press(m, later, "enter")
	if e := press(m, later, "q"); e != nil || m.detail {
		t.Errorf("q on a session: %v, still there %v", e, m.detail)
	}
	if e := press(m, later, "q"); e != (Quit{}) {
		t.Errorf("q in the list: %v", e)
	}
	m = asking(80, 24, &agent.Request{Type: agent.PromptQuestion, Questions: []agent.Question{
		{Text: "Which?", Options: []string{"x", "y"}}, {Text: "What?", Options: []string{"x", "y"}},
	}})
	press(m, later, "1")
	if e := press(m, later, "q"); e != nil || m.card.begun() {
		t.Errorf("q in an answer: %v, begun %v", e, m.card.begun())
	}
}

// TestDeadKeys: a key that does nothing says why.
func TestDeadKeys(t *testing.T) {
	gone, ours, asks := at("gone", agent.Exited, 1), at("ours", agent.Idle, 1), waiting("asks", 1)
	gone.Exit = &api.Exit{}
	viewer := Rights{"screen": true}
	all := Rights{"attach": true, "screen": true, "respond": true, "nudge": true, "kill": true, "interrupt": true, "restart": true}
	for _, c := range []struct {
		s         *sessions.Status
		may       Rights
		key, want string
	}{
		{asks, viewer, "y", "operator: you can look, not answer"},
		{asks, viewer, "2", "operator: you can look, not answer"},
		{asks, viewer, "a", "operator: you can look, not answer"},
		{asks, viewer, "X", "operator: you may not use the verb kill"},
		{asks, viewer, "m", "operator: you may not use the verb nudge"},
		{asks, viewer, "enter", "operator: you may not use the verb attach"},
		{asks, all, "t", "this question doesn't take the key t"},
		{ours, all, "y", "ours isn't asking anything"},
		{ours, all, "s", "ours isn't asking anything"},
		{ours, all, "J", "ours isn't asking anything"},
		{ours, all, "i", "Berth can't send this program messages: attach, and type there"},
		{gone, all, "X", "gone has ended: R restarts it"},
		{gone, all, "m", "gone has ended: R restarts it"},
		{nil, all, "enter", "no session is selected"},
		{nil, all, "y", "no session is selected"},
		{ours, all, "B", "B does nothing here · ? shows the keys"},
	} {
		w := World{May: c.may}
		if c.s != nil {
			w.Sessions = []*sessions.Status{c.s}
		}
		m := started(80, 24, w)
		if e := press(m, later, c.key); e != nil || m.flash.text != c.want {
			t.Errorf("%s: %v, %q, want %q", c.key, e, m.flash.text, c.want)
		}
	}
	m := started(80, 24, World{May: all, Sessions: []*sessions.Status{asks}})
	if press(m, later, "s", "y"); m.flash.text != "the question is hidden: s shows it" {
		t.Errorf("with the screen shown: %q", m.flash.text)
	}
	m = started(40, 12, World{May: all, Sessions: []*sessions.Status{asks}})
	if press(m, later, "y"); m.flash.text != "enter shows the question first" {
		t.Errorf("in a small list: %q", m.flash.text)
	}
}
