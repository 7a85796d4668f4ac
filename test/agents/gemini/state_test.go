//go:build agents

package gemini

import (
	"strings"
	"testing"
)

const asksShell = `Allow execution of \[`

// TestTrust gives each answer to the question about trust. After yes the program asks to be started again, which
// doesn't end the session.
func TestTrust(t *testing.T) {
	for _, c := range []struct{ way, outcome string }{
		{"accept", "accepted"}, {"option 2", "answered"}, {"deny", "denied"},
	} {
		t.Run(c.way, func(t *testing.T) {
			l := newLab(t, Seed{Authenticated: true})
			s := l.Is("prompt")
			if s.Prompt == nil || s.Prompt.Type != "permission" || s.Prompt.Subtype != "trust" || len(s.Prompt.Options) != 3 {
				t.Fatalf("trust is asked as %+v", s.Prompt)
			}
			if n := l.Nudge("not now"); n.Error == nil || n.Error.Code != "AGENT_BUSY" {
				t.Errorf("a message before the answer: %+v %+v", n, n.Error)
			}
			l.respond(c.outcome, c.way)
			l.Is("idle")
			states := l.states()
			switch again := strings.HasSuffix(states, "restarting starting idle") && !strings.Contains(states, "idle "); {
			case c.outcome == "denied":
				l.distrusted = true
				l.See("untrusted$|untrusted ")
				if states != "starting prompt starting idle" && states != "starting prompt idle" {
					t.Errorf("states %s", states)
				}
			case !again:
				// Its dialog, and with that what would end it, may be gone before it has
				// ended; it goes on then as it was started.
				l.See("due to untrusted folder")
				l.distrusted = true
				t.Log("it did not ask to be started again")
			}
			l.Confirmed("MOCK: text in the folder", "MOCK: text in the folder")
		})
	}
}

// TestTrustGiven: the session says so, or Berth answers for it.
func TestTrustGiven(t *testing.T) {
	l := prepare(t, Seed{Authenticated: true})
	check(t, l.Host.Start())
	l.start("trust", nil, "--trust")
	l.Is("idle")
	if states := l.states(); states != "starting idle" {
		t.Errorf("states %s", states)
	}
	l.Confirmed("MOCK: text trusted", "MOCK: text trusted")
}
