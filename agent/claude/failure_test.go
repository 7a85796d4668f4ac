package claude_test

import (
	"encoding/json"
	"testing"

	"berth/agent"
	"berth/agent/claude"
)

// TestFailureClass sorts errors as StopFailure reports them. The texts are those of the
// measured version. Its API was behind a proxy whose port has digits that look like a
// status.
func TestFailureClass(t *testing.T) {
	for _, c := range []struct {
		code, message string
		want          agent.Class
	}{
		{"unknown", "API Error: 400 messages: malformed", agent.Invalid},
		{"authentication_failed", "Invalid API key · Fix external API key", agent.Unauthorized},
		{"authentication_failed", "Please run /login · API Error: 403 Your account may not use this", agent.Unauthorized},
		{"unknown", "Please run /login · API Error: 403 Your account may not use this", agent.Unauthorized},
		{"rate_limit", "API Error: Request rejected (429) · This request would exceed your account's rate limit.", agent.RateLimited},
		{"unknown", "API Error: Request rejected (429) · Later.", agent.RateLimited},
		{"server_error", "API Error: 500 Internal server error. This is a server-side issue; check your inference gateway (127.0.0.1:40393).", agent.Overloaded},
		{"server_error", "API Error: 529 Overloaded. Check your inference gateway (127.0.0.1:42901).", agent.Overloaded},
		{"server_error", "API Error: Repeated 529 Overloaded errors", agent.Overloaded},
		{"billing_error", "Credit balance too low · Add funds: https://platform.claude.com/settings/billing", agent.OutOfCredits},
		{"unknown", "API Error: the lab ends this", agent.OtherFailure},
		{"unknown", "API Error: it ends at 127.0.0.1:44290", agent.OtherFailure},
		{"server_error", "API Error: Unable to connect to API (ECONNRESET)", agent.Network},
		{"invalid_request", "API Error: Claude Code is unable to respond to this request, which appears to violate our Usage Policy", agent.Invalid},
		{"invalid_request", "Prompt is too long", agent.ContextFull},
	} {
		payload, err := json.Marshal(map[string]string{
			"hook_event_name": "StopFailure", "session_id": "s", "error": c.code, "last_assistant_message": c.message,
		})
		if err != nil {
			t.Fatal(err)
		}
		facts, err := claude.Driver{}.Hook(payload)
		if err != nil || len(facts) != 1 || facts[0].Failure == nil {
			t.Fatalf("%s: %+v, %v", c.message, facts, err)
		}
		if got := facts[0].Failure.Class; got != c.want {
			t.Errorf("%s %q is sorted as %s, want %s", c.code, c.message, got, c.want)
		}
	}
}
