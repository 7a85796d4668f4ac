package tui

import (
	"strings"
	"testing"

	"berth/agent"
)

// TestEnterWithNothingChosen: Enter at a card that takes several keys doesn't attach, even if the keys
// before it came too early.
func TestEnterWithNothingChosen(t *testing.T) {
	two := func() *agent.Request {
		return &agent.Request{Type: agent.PromptQuestion, Questions: []agent.Question{
			{Header: "Store", Text: "Which?", Options: []string{"a", "b"}}, {Header: "Parts", Text: "Which parts?", Options: []string{"a", "b"}, MultiSelect: true},
		}}
	}
	m := asking(100, 30, two())
	press(m, later, "2")
	shown(m, later)
	for _, k := range []string{"1", "2", "enter"} {
		if e := m.Press(Key{Name: k}, later.Add(settleTime/2)); e != nil || m.flash.text != justUp {
			t.Errorf("key %s at a new card: got effect %v and message %q", k, e, m.flash.text)
		}
	}
	if e := press(m, later.Add(settleTime), "enter"); e != nil || m.card.review || !strings.Contains(m.flash.text, "nothing is chosen") {
		t.Errorf("enter with nothing chosen: got effect %v and message %q", e, m.flash.text)
	}
	m.flash = flash{}
	if at := drawn(m); strings.Contains(at, "↵ attach") || !strings.Contains(at, "o attach") || strings.Contains(at, "enter next") {
		t.Errorf("the card's keys are\n%s", at)
	}
	if press(m, later.Add(settleTime), "1", "enter"); !m.card.review {
		t.Error("enter with a chosen option doesn't go on")
	}
	// A later question that takes several options.
	r := two()
	r.Questions[0], r.Questions[1] = r.Questions[1], r.Questions[0]
	m = asking(100, 30, r)
	if press(m, later, "1", "enter", "enter"); m.card.step != 1 || !strings.Contains(m.flash.text, "nothing is chosen") {
		t.Errorf("at step %d it says %q", m.card.step, m.flash.text)
	}
	m = asking(100, 30, permission())
	if e := press(m, later, "enter"); e != (Attach{ID: "id-alpha"}) {
		t.Errorf("enter at a single question: got effect %v, want to attach", e)
	}
}

// TestAskedOtherwise: the prompt changes after the key and before its answer arrives.
func TestAskedOtherwise(t *testing.T) {
	m := asking(80, 24, permission())
	a, _ := press(m, later, "y").(Act)
	m.Finish(Done{Act: a, Status: 6, Out: `{"error":{"code":"STALE_PROMPT","message":"this prompt asks something else","details":{"digest":"d2"}}}`}, later)
	if m.flash.text != "alpha: "+changed {
		t.Errorf("it says %q", m.flash.text)
	}
	a, _ = press(m, later, "y").(Act)
	m.Finish(Done{Act: a, Status: 6, Out: `{"error":{"code":"STALE_PROMPT","message":"it was answered","details":{"prompt":"p1"}}}`}, later)
	if m.flash.text != "alpha: it was answered" {
		t.Errorf("it says %q", m.flash.text)
	}
}
