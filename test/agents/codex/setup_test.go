//go:build agents

package codex

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// usersHook is a hooks.json of the user without trust.
const usersHook = `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"touch \"$PWD/users-hook-ran\""}]}]}}`

// TestSetup answers the dialogs of the start in each way they offer.
func TestSetup(t *testing.T) {
	git := Seed{Git: true}
	hooks := Ready()
	hooks.Hooks = usersHook
	update := Ready()
	update.Update = true
	model := Ready()
	model.Model = "gpt-5.5"
	for _, c := range []struct {
		name, kind, outcome string
		seed                Seed
		words               []string
		then                string // the state, or the line to be seen
	}{
		{"trust", "permission trust", "accepted", git, []string{"accept"}, "idle"},
		{"trust by option", "permission trust", "accepted", git, []string{"option", "1"}, "idle"},
		{"trust refused", "permission trust", "denied", git, []string{"deny"}, "Agent command center"},
		{"hooks skipped", "setup hook_review", "denied", hooks, []string{"deny"}, "idle"},
		{"hooks trusted", "setup hook_review", "answered", hooks, []string{"option", "2"}, "idle"},
		{"hooks reviewed", "setup hook_review", "answered", hooks, []string{"option", "1"}, "hook"},
		{"update refused", "setup update", "denied", update, []string{"deny"}, "idle"},
		{"update later", "setup update", "denied", update, []string{"option", "3"}, "idle"},
		{"model refused", "setup model_offer", "denied", model, []string{"deny"}, "idle"},
		{"model taken", "setup model_offer", "answered", model, []string{"option", "1"}, "idle"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(t, c.seed, "--groom", "manual")
			s := l.Is("prompt")
			kind := s.Prompt.Type
			if s.Prompt.Subtype != "" {
				kind += " " + s.Prompt.Subtype
			}
			if kind != c.kind || len(s.Prompt.Options) < 2 || s.Prompt.OptionsFallback || !s.Prompt.OnScreen {
				t.Fatalf("it asks %+v", s.Prompt)
			}
			l.Respond("keys", c.outcome, append([]string{"--prompt", s.Prompt.ID}, c.words...)...)
			if c.then != "idle" {
				l.See(c.then)
				return
			}
			l.Is("idle")
			if strings.HasPrefix(c.kind, "setup model") {
				return // that model's tools are others
			}
			l.works()
			if c.name == "hooks trusted" != l.Made("users-hook-ran") {
				t.Errorf("the user's hook ran: %v", l.Made("users-hook-ran"))
			}
		})
	}
}

// works gives a message once Codex takes one, and sees its turn through. Codex says that it
// is at rest before it listens: for that the message may wait.
func (l *lab) works() {
	l.T.Helper()
	l.Call("nudge", name, "--queue", "--", "MOCK: text hello")
	l.Asked("MOCK: text hello", 0)
	l.See("• hello")
	l.Is("idle")
}

// TestGroom: Berth answers the startup prompts that the policy allows, and no others.
func TestGroom(t *testing.T) {
	update := Seed{Update: true, Git: true}
	t.Run("auto", func(t *testing.T) {
		l := newLab(t, update, "--trust")
		l.Is("idle")
		l.works()
	})
	t.Run("not trusted", func(t *testing.T) {
		l := newLab(t, Seed{Git: true})
		if s := l.Is("prompt"); s.Prompt.Subtype != "trust" {
			t.Errorf("it asks %+v", s.Prompt)
		}
	})
	t.Run("model", func(t *testing.T) {
		seed := Ready()
		seed.Model = "gpt-5.5"
		l := newLab(t, seed)
		l.Is("idle")
		l.See("GPT-5.5 default")
		if told := l.Events("groom"); len(told) != 1 || told[0].Answer != "deny" {
			t.Errorf("the model's offer: %+v", told)
		}
	})
	t.Run("pristine", func(t *testing.T) {
		l := newLab(t, Ready(), "--groom", "pristine")
		l.Is("idle")
		l.works()
		entries, err := os.ReadDir(filepath.Join(l.home.Config, "sessions"))
		if err != nil || len(entries) == 0 {
			t.Errorf("its own home has no conversation: %v", err)
		}
	})
}

// TestSignIn: without a key Codex asks how to sign in. A person types the key; no prompt or event has it, and all
// sessions use it.
func TestSignIn(t *testing.T) {
	l := newLab(t, Seed{Trusted: true, Login: true})
	s := l.Is("prompt")
	if s.Prompt.Subtype != "login_method" || len(s.Prompt.Options) != 3 {
		t.Fatalf("it asks %+v", s.Prompt)
	}
	l.Respond("keys", "answered", "option", "3")
	l.See("Use an OpenAI API key")
	l.Respond("keys", "answered", "option", "1")
	l.See("Paste or type your API key")
	s = l.Is("prompt")
	if s.Prompt.Subtype != "api_key" {
		t.Fatalf("it asks %+v", s.Prompt)
	}
	if r, status := l.Try("", "text", l.home.Key); status != 8 {
		t.Errorf("a key as an answer: status %d, %+v", status, r)
	}
	check(t, l.Type(l.Ctx, l.home.Key))
	l.See("sk-lab")
	if out := string(l.Call("prompt", name, "--full")); strings.Contains(out, l.home.Key) {
		t.Errorf("the prompt shows the key: %s", out)
	}
	check(t, l.Press(l.Ctx, "Enter"))
	l.Is("idle")
	l.works()
	if auth, err := os.ReadFile(filepath.Join(l.home.Config, "auth.json")); err != nil || !strings.Contains(string(auth), l.home.Key) {
		t.Errorf("the key is not kept where other sessions find it: %v", err)
	}
}
