//go:build agents

package claude

import "testing"

// TestErrors has the API fail in each way that ends a turn, and checks the words that
// the screen then shows.
func TestErrors(t *testing.T) {
	t.Parallel()
	l := newLabWith(t, Ready(), map[string]string{"CLAUDE_CODE_MAX_RETRIES": "1"})
	l.ready()
	for _, failure := range []struct{ scenario, shown string }{
		{"error 400", "● API Error: 400 messages: the lab says that this is malformed"},
		{"error 401", "Invalid API key · Fix external API key"},
		{"error 403", "● Please run /login · API Error: 403 Your account may not use this"},
		{"error 429", `● API Error: Request rejected \(429\) · This request would exceed`},
		{"error 500", "● API Error: 500 Internal server error"},
		{"error 529", "● API Error: 529 Overloaded|● API Error: Repeated 529 Overloaded"},
		{"credit", "Credit balance too low · Add funds: "},
		{"mid-error", "● API Error: the lab ends this|● API Error: Server error mid-response"},
		{"drop", `● API Error: (Unable to connect to API|Connection dropped) \(ECONNRESET\)`},
		{"refusal", "● API Error: Claude Code is unable to respond to this request|safeguards stopped the response above"},
	} {
		message := "MOCK: " + failure.scenario
		l.send(message)
		l.See(failure.shown)
		l.ready()
		l.once(message)
	}
	l.send("MOCK: text all well again")
	l.See("● all well again")
}

// TestRetry has the API fail until the client tries again.
func TestRetry(t *testing.T) {
	l := newLab(t, Ready())
	l.ready()
	l.send("MOCK: error 500 1")
	l.See("Retrying in|It worked after all")
	l.See("● It worked after all")
	l.ready()
	l.send("MOCK: drop 1")
	l.See("● The line is back")
	l.ready()
}

// TestInterrupt stops a turn amid its text, and one before it.
func TestInterrupt(t *testing.T) {
	l := newLab(t, Ready())
	l.ready()
	l.send("MOCK: slow 100 100")
	l.See("line 003", "esc to interrupt")
	l.key("Escape")
	l.See("Interrupted · What should Claude do instead", prompt)
	l.Gone("esc to interrupt")

	// Before any output the message comes back into the composer.
	l.send("MOCK: hang here")
	l.Asked("MOCK: hang here", 0)
	l.See("esc to interrupt")
	l.key("Escape")
	l.Gone("esc to interrupt")
	l.See(prompt + "MOCK: hang here")
}
