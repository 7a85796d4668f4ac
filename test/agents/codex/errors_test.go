//go:build agents

package codex

import "testing"

// TestErrors: a turn that fails is an error of its class, until the next.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ scenario, class string }{
		{"error 400", "invalid"}, {"error 401", "unauthorized"}, {"error 403", "unauthorized"}, {"error 429", "rate_limited"},
		{"error 500", "overloaded"}, {"error 503", "overloaded"}, {"quota", "out_of_credits"}, {"too-long", "context_full"}, {"drop", "network"},
	} {
		t.Run(c.scenario, func(t *testing.T) {
			l := newLab(t, Ready())
			l.await("idle")
			n := l.give("MOCK: "+c.scenario, "--wait", "--timeout", patient.String())
			if n.status != 21 {
				t.Fatalf("%+v %+v", n, n.Error)
			}
			s := l.state()
			if s.State != "error" || s.Failure == nil || s.Failure.Class != c.class || s.Failure.Text == "" {
				t.Errorf("%s %+v", s.State, s.Failure)
			}
			given := false // before, on a busy machine, it works once more as it starts up
			for _, e := range l.told("state_change", "nudge") {
				given = given || e.Type == "nudge"
				if given && e.Next == "idle" {
					t.Errorf("it was said to be idle: %v", l.states())
				}
			}
			l.confirmed("MOCK: text better now", "MOCK: text better now")
			if s := l.state(); s.State != "idle" || s.Failure != nil {
				t.Errorf("after the next turn: %s %+v", s.State, s.Failure)
			}
		})
	}
}
