package tui

import (
	"strings"
	"testing"

	"berth/agent"
	"berth/terminal/paint"
)

// TestCalls: the dashboard notifies once of a session that begins to wait, and never of one that already
// waited when the dashboard was opened.
func TestCalls(t *testing.T) {
	ask := func(id string) *agent.Request {
		return &agent.Request{ID: id, Type: agent.PromptQuestion, Text: agent.Pointer("ok; \x1b]0;x\x07 really?")}
	}
	a, b := at("a", agent.Prompt, 1), at("b", agent.Working, 1)
	a.Request = ask("1")
	m := started(80, 24, world(a, b))
	sc := newScreen(paint.Look{Depth: paint.DepthTrue, UTF8: true})
	sc.resize(80, 24)
	if strings.Contains(string(sc.draw(m)), "\a") {
		t.Error("the bell rings for a session that already waited")
	}
	b = at("b", agent.Prompt, 0)
	b.Request = ask("2")
	m.SetWorld(world(a, b), later)
	if out := string(sc.draw(m)); strings.Count(out, "\a") != 1 || !strings.Contains(out, "(2) berth: 2 waiting") {
		t.Errorf("draws %q", out)
	}
	m.SetWorld(world(a, b), later)
	if strings.Contains(string(sc.draw(m)), "\a") {
		t.Error("the bell rings twice for one wait")
	}
	for _, want := range []string{"\x1b]9;a waits: ok, ␛]0,x␇ really?\x1b\\", "\x1b]777;notify;Berth;a waits: ok, ␛]0,x␇ really?\x1b\\", ""} {
		press(m, later, "b")
		next := *a
		next.Request = ask(want + "x")
		a = &next
		m.SetWorld(world(a, b), later)
		if got := m.Call(false); got != want {
			t.Errorf("got notification %q, want %q", got, want)
		}
	}
}
