//go:build agents

package gemini

import "testing"

// TestErrors tells errors from ends, with their class.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ message, class string }{
		{"MOCK: error 400", "invalid"}, {"MOCK: error 401", "unauthorized"}, {"MOCK: error 403", "unauthorized"},
		{"MOCK: drop", "network"}, {"MOCK: no-end", "network"},
	} {
		t.Run(c.message, func(t *testing.T) {
			l := newLab(t, Ready())
			l.Is("idle")
			n := l.nudge(c.message, "--wait", "--timeout", "90s")
			if n.status != 21 || n.State == nil || *n.State != "error" {
				t.Fatalf("%+v %+v", n, n.Error)
			}
			if s := l.Said(); s.Failure == nil || s.Failure.Class != c.class {
				t.Errorf("the failure is %+v", s.Failure)
			}
			l.confirmed("MOCK: text better", "MOCK: text better")
			l.Is("idle")
		})
	}
}

// TestErrorsThatPass: what is asked for once more is work, and no error.
func TestErrorsThatPass(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	for _, message := range []string{"MOCK: error 429 1", "MOCK: error 500 1", "MOCK: no-end 1"} {
		if n := l.nudge(message, "--wait", "--timeout", "90s"); n.status != 0 {
			t.Fatalf("%s: %+v %+v", message, n, n.Error)
		}
	}
	if states := l.states(); states != "starting idle working idle working idle working idle" {
		t.Errorf("states %s", states)
	}
}
