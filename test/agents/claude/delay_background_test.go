//go:build agents

package claude

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// hooksSince counts the events of that hook which the watcher received since from.
func (c *chronicle) hooksSince(from time.Time, name string) (own, foreign int) {
	for _, h := range c.watch.heard() {
		switch {
		case h.Event != name || h.Told.Before(from):
		case h.Foreign:
			foreign++
		default:
			own++
		}
	}
	return own, foreign
}

// waitHook waits for the n-th event of that name since from.
func (c *chronicle) waitHook(from time.Time, name string, n int) {
	c.T.Helper()
	for deadline := time.Now().Add(patient); ; {
		c.watch.mu.Lock()
		changed := c.watch.changed
		c.watch.mu.Unlock()
		if own, _ := c.hooksSince(from, name); own >= n {
			return
		}
		select {
		case <-changed:
		case <-time.After(time.Until(deadline)):
			c.T.Fatalf("no event of the hook %s", name)
		}
	}
}

// testDelayConversation clears and compacts. Berth emits no turn that didn't happen, and
// follows the right conversation.
func testDelayConversation(t *testing.T) {
	c := newChronicle(t, Ready(), nil)
	for _, word := range []string{"one", "two", "three"} {
		c.send("MOCK: text answer " + word)
		c.See("● answer " + word)
		c.Is("idle")
	}
	time.Sleep(quiet)

	c.begin()
	c.send("/compact")
	got := c.follows("/compact", working(), resting())
	// The live file may be quicker than the hook. It says only that Claude works.
	if len(got) == 2 && got[0].Cause == "hook:PreCompact" && (got[0].Activity == nil || got[0].Activity.Kind != "compacting") {
		t.Errorf("/compact: the activity is %+v", got[0].Activity)
	}

	from := time.Now()
	c.begin()
	c.send("/clear")
	c.waitHook(from, "SessionStart", 1)
	c.followsBriefly("/clear")

	// Hooks of the conversation that it is now are its own.
	from = time.Now()
	c.begin()
	c.send("MOCK: text after the clear")
	c.follows("a turn after /clear", working(), resting())
	if own, foreign := c.hooksSince(from, "Stop"); own != 1 || foreign != 0 {
		t.Errorf("after /clear: %d events of its own, %d foreign", own, foreign)
	}

	for _, word := range []string{"four", "five"} { // a summary alone is not summarised again
		c.send("MOCK: text answer " + word)
		c.See("● answer " + word)
		c.Is("idle")
	}
	time.Sleep(quiet)
	c.begin()
	from = time.Now()
	c.send("MOCK: too-long")
	got = c.follows("prompt too long, compacted by itself", working(), failing())
	if n := len(got); n > 0 && (got[n-1].Failure == nil || got[n-1].Failure.Class != "context_full") {
		t.Errorf("too long: the failure is %+v", got[n-1].Failure)
	}
	times := 1
	if newer(330) { // tries once more
		times = 2
	}
	if own, _ := c.hooksSince(from, "PreCompact"); own != times {
		t.Errorf("it compacted %d times", own)
	}
}

// restingWithShell is an idle Claude with a shell in the background: its file says "shell".
func restingWithShell() step { return step{state: "idle", status: "shell"} }

// testDelayBackground has work go on after a turn's end.
func testDelayBackground(t *testing.T) {
	c := newChronicle(t, Ready(), nil, "--allowedTools", "Bash(sleep:*)")
	c.begin()
	c.send("MOCK: shell sleep 3")
	c.follows("background shell, and the turn of its end", working(), restingWithShell(), working(), resting())

	// A subagent in the background keeps Claude busy; its end begins a turn.
	c.begin()
	c.send("MOCK: agent-bg MOCK: slow 8 250")
	c.See("● The subagent works in the background.")
	c.See(`● Agent "Sub task" finished`)
	got := c.follows("background subagent, and the turn of its end", working(), resting())
	if len(got) == 2 && got[1].Time.Sub(got[0].Time) < 2*time.Second {
		t.Errorf("idle was emitted after %v, while the subagent worked", got[1].Time.Sub(got[0].Time))
	}

	c.begin()
	c.send("MOCK: agent MOCK: slow 6 250")
	c.follows("subagent in the turn", working(), resting())
}

// testDelayStopHook has a hook of the user run longer than ours. The turn isn't over before
// that hook is.
func testDelayStopHook(t *testing.T) {
	seed := Ready()
	seed.Hooks = map[string]string{"Stop": "sleep 2"}
	c := newChronicle(t, seed, nil)
	c.begin()
	c.send("MOCK: text all but the hook")
	got := c.follows("another stop hook still runs", working(), resting())
	if len(got) == 2 && got[1].Time.Sub(got[0].Time) < 2*time.Second {
		t.Errorf("idle was emitted after %v, while the hook ran", got[1].Time.Sub(got[0].Time))
	}
}

// testDelayStopBlocked has a hook of the user's send Claude on at its first stop. It is one turn.
func testDelayStopBlocked(t *testing.T) {
	once := filepath.Join(t.TempDir(), "once")
	seed := Ready()
	seed.Hooks = map[string]string{"Stop": "[ -e " + once + " ] || { touch " + once + "; echo go on >&2; exit 2; }"}
	c := newChronicle(t, seed, nil)
	c.begin()
	c.send("MOCK: text twice")
	c.follows("a stop hook that sends it on", working(), resting())
	if own, _ := c.hooksSince(time.Time{}, "Stop"); own != 2 {
		t.Errorf("it stopped %d times", own)
	}
}

// testNestedClaude runs another Claude Code in a tool of the first. It reports by the same
// hooks. Its events are emitted as foreign, and change no state.
func testNestedClaude(t *testing.T) {
	c := newChronicle(t, Ready(), nil)
	settings, err := filepath.Glob(filepath.Join(c.home.Dir, "..", "state", "sessions", "*", "claude-settings.json"))
	if err != nil || len(settings) != 1 {
		t.Fatalf("the settings with our hooks: %v, %v", settings, err)
	}
	// Short names: the composer breaks a long message into lines.
	check(t, os.Symlink(settings[0], filepath.Join(c.home.Workspace, "s.json")))
	check(t, os.Symlink(programs.Agent, filepath.Join(c.home.Workspace, "nested")))
	for _, nested := range []struct{ name, message string }{
		{"a nested claude -p", "MOCK: text from within"}, {"a nested claude -p that fails", "MOCK: error 403"},
	} {
		from := time.Now()
		c.begin()
		c.send("MOCK: bash ./nested -p --settings s.json '" + nested.message + "'; sleep 1")
		c.See(proceed)
		c.key("1")
		c.follows(nested.name, working(), asking(), working(), resting())
		if _, foreign := c.hooksSince(from, "UserPromptSubmit"); foreign != 1 {
			t.Errorf("%s: %d foreign turns were emitted", nested.name, foreign)
		}
		if own, _ := c.hooksSince(from, "Stop"); own != 1 {
			t.Errorf("%s: %d ends of its own", nested.name, own)
		}
	}
}

// testDelayLocalDialogs opens dialogs that ask nothing about the work.
func testDelayLocalDialogs(t *testing.T) {
	c := newChronicle(t, Ready(), nil)
	for _, command := range []string{"/help", "/model"} {
		c.begin()
		c.send(command)
		c.waitFor(command, 1)
		c.See(`Esc to|esc to|Enter to`)
		c.key("Escape")
		c.follows(command+", closed by Esc", asking(), resting())
	}
	c.begin()
	c.send("/nonsense")
	c.See("Unknown command")
	c.followsBriefly("an unknown command")
}
