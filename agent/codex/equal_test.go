package codex_test

import (
	"testing"

	"berth/agent"
)

// TestEqualCallsAtOnce: two equal calls ask at once, and a hook waits for each. Each has a prompt of its own, which only the answer of its
// hook closes, also if the other call runs first.
func TestEqualCallsAtOnce(t *testing.T) {
	for _, first := range []string{"a", "b"} {
		s := newRun(t)
		s.calls("a", "/w")
		s.requests("7", "/w")
		s.calls("b", "/w")
		s.requests("8", "/w")
		s.requests("9", "/w") // of a hook that is configured twice
		for _, hook := range []string{"7", "8"} {
			p, held := s.f.HeldBy(hook)
			if !held || s.f.Holds("9") {
				t.Fatalf("no prompt holds the hook %s: %+v", hook, s.f.Status().Requests)
			}
			s.f.Answered(p.ID, true)
			s.apply(agent.Fact{Kind: agent.HookAnswered, Source: agent.SourceHook, Cause: "hook:delivered", Hook: hook})
			if _, open := s.f.Pending(p.ID); open {
				t.Errorf("the prompt of hook %s is open after its answer", hook)
			}
			s.ends(map[bool]string{true: first, false: map[string]string{"a": "b", "b": "a"}[first]}[hook == "7"])
			s.show(s.works)
		}
		if open := s.f.Status().Requests; len(open) > 0 {
			t.Errorf("it asks %+v", open)
		}
	}
}
