//go:build agents

package claude

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRespondQuestions answers questions in the words of their options.
func TestRespondQuestions(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")

	l.asks("MOCK: ask")
	l.Respond("hook", "answered", "option", "2")
	l.answered("MOCK: ask", "Green")
	l.Is("idle")

	l.asks("MOCK: ask own words")
	l.Respond("hook", "answered", "text", "a dark violet, 'quoted'")
	l.answered("MOCK: ask own words", "a dark violet, 'quoted'")
	l.Is("idle")

	s := l.asks("MOCK: ask-two")
	if r, status := l.Try("", "answer", "1=3"); status != 2 {
		t.Errorf("one of two answered: status %d, %+v", status, r)
	}
	l.Respond("hook", "answered", "--prompt", s.Prompt.ID, "answer", "2=2", "1=3")
	l.answered("MOCK: ask-two", "Blue")
	l.answered("MOCK: ask-two", "Large")
	l.Is("idle")

	l.asks("MOCK: ask-many")
	l.Respond("hook", "answered", "answer", "1=1,3")
	l.answered("MOCK: ask-many", "Logging, Tracing")
	l.Is("idle")

	l.asks("MOCK: ask-three")
	r, status := l.Try(`{"answers":[{"option":2},{"text":"Gigantic"},{"options":[3,1]}]}`, "-")
	if status != 0 || !r.Confirmed {
		t.Fatalf("answers as JSON: status %d, %+v, %+v", status, r, r.Error)
	}
	for _, want := range []string{"Green", "Gigantic", "Tracing, Logging"} {
		l.answered("MOCK: ask-three", want)
	}
	l.Is("idle")

	l.asks("MOCK: ask denied")
	l.Respond("hook", "denied", "deny")
	l.Is("idle")
}

// TestRespondPlan answers a plan in each way.
func TestRespondPlan(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")

	s := l.asks("MOCK: plan")
	if s.Prompt.Type != "plan" {
		t.Errorf("the prompt is %+v", s.Prompt)
	}
	l.Respond("hook", "denied", "deny", "use python")
	if r := l.Asked("MOCK: plan", 3); !strings.Contains(string(r.Body), "use python") {
		t.Error("the words did not reach the model")
	}
	l.Is("idle")

	l.asks("MOCK: plan-now")
	l.Respond("hook", "denied", "deny")
	l.Is("idle")
	l.See("⏸ plan mode on")

	l.asks("MOCK: plan-now again")
	l.Respond("hook", "accepted", "option", l.optionTold("2"))
	if r := l.Asked("MOCK: plan-now again", 2); !strings.Contains(string(r.Body), "has approved your plan") {
		t.Error("the request to the model does not say that the plan is approved")
	}
	l.Gone("plan mode on")
	l.Is("idle")

	l.asks("MOCK: plan third")
	l.Respond("hook", "accepted", "accept")
	l.Gone("plan mode on")
	l.Is("idle")
}

// TestPlanAfterAcceptEdits accepts a plan that was made while all edits were allowed. Claude asks about each edit then.
func TestPlanAfterAcceptEdits(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	l.key("S-Tab")
	l.See("accept edits on")
	l.asks("MOCK: plan")
	l.Respond("hook", "accepted", "accept")
	l.Gone("plan mode on")
	l.Is("idle")
	l.Gone("accept edits on")
}

// TestRespondSetup answers the dialogs before the first prompt, by keys.
func TestRespondSetup(t *testing.T) {
	l := newManualLab(t, Seed{KeyApproved: true})
	l.See("Choose the text style", "Dark mode ✔|✔ Auto")
	l.Is("prompt")
	l.Respond("keys", "answered", "option", "3")
	l.See("Press Enter to continue")
	l.Respond("keys", "accepted", "accept")
	l.See("Quick safety check")
	l.Respond("keys", "accepted", "accept")
	l.Is("idle")
	settings, err := os.ReadFile(filepath.Join(l.home.Config, "settings.json"))
	if err != nil || !strings.Contains(string(settings), "light") {
		t.Errorf("the theme chosen is not in the settings: %v", err)
	}
}

func TestRespondSetupKeyAndBypass(t *testing.T) {
	l := newManualLab(t, Seed{Onboarded: true, Trusted: true}, "--dangerously-skip-permissions")
	l.See("Detected a custom API key")
	l.Is("prompt")
	l.Respond("keys", "accepted", "accept")
	l.See("WARNING: Claude Code running in Bypass Permissions mode")
	l.Respond("keys", "accepted", "accept")
	l.Is("idle")
	l.See("⏵⏵ bypass permissions on")
}

func TestRespondTrustRefused(t *testing.T) {
	l := newManualLab(t, Seed{Onboarded: true, KeyApproved: true})
	l.Is("prompt")
	l.Respond("keys", "denied", "deny")
	l.exits(1)
}
