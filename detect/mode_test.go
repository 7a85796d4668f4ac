package detect

import (
	"strings"
	"testing"
	"time"

	"berth/agent"
)

// footed is a composer over a footer with a mode.
func footed(mode string) agent.Reading {
	r := composer("")
	r.Mode = mode
	return r
}

func (b *bench) modeIs(word string, s agent.Source) {
	b.t.Helper()
	if m := b.fold.Mode(); m.Word != word || m.Source != s {
		b.t.Errorf("at %d: %+v, want %s by %s", b.now, m, word, s)
	}
}

func (b *bench) hookMode(mode, conversation, sub string) {
	b.say(agent.Fact{Kind: agent.Noted, Source: agent.SourceHook, Conversation: conversation, Agent: sub, Mode: mode})
}

func TestMode(t *testing.T) {
	b := newBench(t, Options{Conversation: "c"})
	b.modeIs("", "")

	// The screen is the first that shows one. It must hold.
	b.at(1000).screen(footed("auto"))
	b.at(1400).modeIs("", "")
	b.at(1500).modeIs("auto", agent.SourceScreen)

	// A hook is the agent's word at once, also before the agent draws it.
	b.at(2000).hookMode("plan", "c", "")
	b.modeIs("plan", agent.SourceHook)
	b.at(2300).screen(footed("plan"))
	b.at(4000).modeIs("plan", agent.SourceHook)

	// A key changes it without a hook.
	b.screen(footed("default"))
	b.at(4400).modeIs("plan", agent.SourceHook)
	b.at(4500).modeIs("default", agent.SourceScreen)

	// A footer without one, a dialog, a subagent and another conversation say nothing about it.
	b.screen(footed(""))
	b.at(6000).screen(agent.Reading{Dialog: &agent.Dialog{Type: agent.PromptNotice}})
	b.at(8000).hookMode("acceptEdits", "c", "sub")
	b.hookMode("bypassPermissions", "other", "")
	b.at(10000).modeIs("default", agent.SourceScreen)

	// Two frames of a cycle are not two modes.
	b.screen(footed("plan"))
	b.at(10200).screen(footed("auto"))
	b.at(10400).screen(footed("default"))
	b.at(12000).modeIs("default", agent.SourceScreen)
	if got := strings.Join(b.log, ", "); got != "3000 idle, 6150 prompt/1, 10200 idle" { // by composer and dialog alone
		t.Errorf("states: %s", got)
	}
}

// TestModeRestored: a checkpoint has the mode, and facts that are applied again don't bring an older one back
// by the screen.
func TestModeRestored(t *testing.T) {
	b := newBench(t, Options{Conversation: "c"})
	b.at(1000).screen(footed("auto"))
	b.at(2000)
	saved, err := b.fold.Checkpoint()
	if err != nil {
		t.Fatal(err)
	}
	now := t0.Add(3 * time.Second)
	f, err := Restore(lab{}, Options{Start: t0, Conversation: "c"}, saved, now)
	if err != nil {
		t.Fatal(err)
	}
	if f.Mode().Word != "auto" {
		t.Errorf("restored: %+v", f.Mode())
	}
	f.Freeze()
	f.Apply(agent.Fact{Kind: agent.Noted, Source: agent.SourceHook, Conversation: "c", Mode: "plan", Time: now})
	f.Tick(now.Add(time.Minute))
	if f.Mode().Word != "plan" {
		t.Errorf("while it is frozen the old screen counts: %+v", f.Mode())
	}
}
