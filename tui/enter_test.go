package tui

import (
	"strings"
	"testing"

	"berth/agent"
)

// TestEnterWithNothingChosen: Enter at a card that waits for more than one key does
// not attach, also when the keys before it came too early to be taken.
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
		if e := m.Press(Key{Name: k}, later.Add(stands/2)); e != nil || m.flash.text != justUp {
			t.Errorf("%s at what has just come up does %v, says %q", k, e, m.flash.text)
		}
	}
	if e := press(m, later.Add(stands), "enter"); e != nil || m.card.review || !strings.Contains(m.flash.text, "nothing is chosen") {
		t.Errorf("with nothing chosen it does %v, says %q", e, m.flash.text)
	}
	m.flash = flash{}
	if at := drawn(m); strings.Contains(at, "↵ attach") || !strings.Contains(at, "a attach") || strings.Contains(at, "enter next") {
		t.Errorf("its keys are\n%s", at)
	}
	if press(m, later.Add(stands), "1", "enter"); !m.card.review {
		t.Error("what was chosen is not taken")
	}
	// One option of a later question.
	r := two()
	r.Questions[0], r.Questions[1] = r.Questions[1], r.Questions[0]
	m = asking(100, 30, r)
	if press(m, later, "1", "enter", "enter"); m.card.step != 1 || !strings.Contains(m.flash.text, "nothing is chosen") {
		t.Errorf("at step %d it says %q", m.card.step, m.flash.text)
	}
	m = asking(100, 30, permission())
	if e := press(m, later, "enter"); e != (Attach{ID: "id-alpha"}) {
		t.Errorf("at one question it does %v", e)
	}
}

// TestAskedOtherwise: the prompt changed after the key and before its answer was taken.
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
