//go:build agents

package gemini

import (
	"strings"
	"testing"
)

// TestTurn follows a session through a turn, with what was said and what it took.
func TestTurn(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	n := l.nudge("MOCK: text hello there", "--wait")
	if n.status != 0 || !n.Confirmed || n.LastMessage == nil || *n.LastMessage != "hello there" {
		t.Fatalf("%+v %+v", n, n.Error)
	}
	if n := l.nudge("MOCK: slow 20 100"); n.status != 0 {
		t.Fatalf("%+v %+v", n, n.Error)
	}
	l.Is("working")
	l.Is("idle")
	out, err := l.Host.Call(l.Ctx, nil, "last", l.Name, "--json")
	check(t, err)
	for _, want := range []string{"slow end", `"input_tokens":18`, `"cache_read_input_tokens":7`, `"requests":1`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("last has no %s: %s", want, out)
		}
	}
}

const asksShell = `Allow execution of \[`

// TestTrust answers the question whom to trust in each way. The program asks to
// be started again when it is answered with yes: that is no end of its work.
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
			if n := l.nudge("not now"); n.Error == nil || n.Error.Code != "AGENT_BUSY" {
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
			l.confirmed("MOCK: text in the folder", "MOCK: text in the folder")
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
	l.confirmed("MOCK: text trusted", "MOCK: text trusted")
}
