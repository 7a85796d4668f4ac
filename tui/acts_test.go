package tui

import (
	"strings"
	"testing"

	"berth/agent"
	"berth/sessions"
)

// TestRights: of each deed a person without its right is shown nothing, and its
// key does nothing; with the right it is the verb itself.
func TestRights(t *testing.T) {
	for _, d := range deeds() {
		s := at("alpha", agent.Working, 1)
		s.Driven = true
		m := started(80, 40, World{Sessions: []*sessions.Status{s}, May: Rights{"ls": true}})
		if e := press(m, later, d.key, "y"); e != nil || m.edit != nil || m.page != nil {
			t.Errorf("%s without the right to %s does %v", d.key, d.verb, e)
		}
		press(m, later, "?")
		if strings.Contains(drawn(m), d.does) {
			t.Errorf("help shows %q without the right", d.does)
		}
		m = started(80, 40, World{Sessions: []*sessions.Status{s}, May: Rights{"ls": true, d.verb: true}})
		e := press(m, later, d.key)
		switch {
		case d.ask != "":
			if e != nil || m.confirm == nil {
				t.Errorf("%s is not asked about", d.key)
			}
			if e = press(m, later, "n"); e != nil {
				t.Errorf("%s is done after a no", d.key)
			}
			press(m, later, d.key)
			e = press(m, later, "y")
		case d.verb == "tag":
			e = press(m, later, "n", "e", "w", " ", "-", "o", "l", "d", "enter")
		}
		a, ok := e.(Act)
		if !ok {
			t.Errorf("%s does %v", d.key, e)
			continue
		}
		switch {
		case d.verb == "screen":
			if a.Kind != "history" {
				t.Errorf("%s is %s", d.key, a.Kind)
			}
		case len(a.Words) == 0 || a.Words[0] != d.verb || !strings.Contains(strings.Join(a.Words, " "), "id-alpha"):
			t.Errorf("%s runs %q", d.key, a.Words)
		}
		if d.verb == "tag" && strings.Join(a.Words, " ") != "tag id-alpha new --remove old" {
			t.Errorf("tags by %q", a.Words)
		}
		// A right that went while it was asked for a yes is missed.
		if d.ask != "" {
			press(m, later, d.key)
			m.SetWorld(World{Sessions: []*sessions.Status{s}, May: Rights{"ls": true}}, later)
			if e := press(m, later, "y"); e != nil {
				t.Errorf("%s is done without its right", d.key)
			}
		}
	}
}

func TestStart(t *testing.T) {
	w := world(at("a", agent.Idle, 1))
	m := started(80, 24, w)
	if press(m, later, "N"); m.start != nil {
		t.Error("who may not start a session gets its form")
	}
	w.May = Rights{"new": true, "nudge": true}
	w.Profiles = []string{"claude", "shell"}
	m.SetWorld(w, later)
	press(m, later, "N", "right", "tab", "x", "1", "enter", "d", "o", " ", "i", "t")
	e, ok := press(m, later, "enter").(Act)
	if !ok || strings.Join(e.Words, " ") != "new x1 --profile shell --prompt -" || e.Stdin != "do it" {
		t.Errorf("runs %q with %q", e.Words, e.Stdin)
	}
	m.Finish(Done{Act: e, Status: 2, Out: `{"error":{"code":"BAD_REQUEST","message":"taken"}}`}, later)
	if m.start == nil || !strings.Contains(m.flash.text, "taken") {
		t.Error("a refusal loses the form")
	}
	m.Finish(Done{Act: e, Out: `{"session":"x1","id":"id-x1"}`}, later)
	w.Sessions = append(w.Sessions, at("x1", agent.Starting, 0))
	m.SetWorld(w, later)
	if m.start != nil || m.selected != "id-x1" {
		t.Errorf("%s is chosen after it was made", m.selected)
	}
	w.OwnCommand = true
	m.SetWorld(w, later)
	press(m, later, "N", "left", "tab", "tab")
	for _, r := range `say "a b"` {
		press(m, later, string(r))
	}
	e, _ = press(m, later, "enter", "enter", "enter").(Act)
	if got := strings.Join(e.Words, "|"); got != "new|--|say|a b" {
		t.Errorf("runs %q", got)
	}
}

func TestPage(t *testing.T) {
	m := started(80, 12, World{Sessions: []*sessions.Status{at("a", agent.Idle, 1)}, May: Rights{"transcript": true}})
	e := press(m, later, "l").(Act)
	m.Finish(Done{Act: e, Out: strings.Repeat("line\r\n", 30) + "evil \x1b]0;x\x07\r\nlast\r\n"}, later)
	press(m, later, "G")
	if shown := drawn(m); !strings.Contains(shown, "last") || strings.Contains(shown, "\x1b") {
		t.Errorf("the end shows\n%s", shown)
	}
	if a, ok := press(m, later, "2").(Act); !ok || strings.Join(a.Words, " ") != "transcript id-a 2" {
		t.Errorf("a number runs %v", a)
	}
	m.Finish(Done{Act: e, Status: 1, Out: `{}`}, later)
	if m.page == nil {
		t.Error("a failure closes the page")
	}
	press(m, later, "q")
	if m.page != nil {
		t.Error("q does not lead back")
	}
}
