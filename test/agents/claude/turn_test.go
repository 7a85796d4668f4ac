//go:build agents

package claude

import (
	"context"
	"strings"
	"testing"

	"berth/test/agents/modelapi"
)

// TestText is the simplest turn: a message and an answer of text.
func TestText(t *testing.T) {
	l := newLab(t, Ready())
	l.ready()
	l.send("MOCK: text the lab answers")
	l.See("● the lab answers")
	l.ready()
	l.once("MOCK: text the lab answers")
}

// TestBackground has work run in the background of the conversation. Its end starts a turn
// that no person typed.
func TestBackground(t *testing.T) {
	l := newLab(t, Ready())
	l.ready()
	l.send("MOCK: agent-bg MOCK: slow 4 250")
	l.See("● The subagent works in the background.")
	l.See(`● Agent "Sub task" finished`)
	l.See("● Understood.") // the model's reply to the notice
	l.ready()
	l.send("MOCK: shell sleep 2; echo shell-done")
	l.See("● It runs in the background.")
	l.See(`1 shell`)
	l.See("● Background command .* completed")
	l.ready()
	for _, want := range []string{`Agent "Sub task"`, "Run the lab's command"} {
		ctx, cancel := context.WithTimeout(l.Ctx, patient)
		_, err := l.API.Wait(ctx, func(r modelapi.Request) bool {
			return strings.Contains(r.Prompt, "<task-notification>") && strings.Contains(r.Prompt, want)
		})
		cancel()
		check(t, err)
	}
}

// TestCompact summarises the conversation, on /compact and when it is too long.
func TestCompact(t *testing.T) {
	l := newLab(t, Ready())
	l.ready()
	for _, word := range []string{"one", "two", "three"} {
		l.send("MOCK: text answer " + word)
		l.See("● answer " + word)
		l.ready()
	}
	l.send("/compact")
	l.See("Conversation compacted")
	l.ready()
	for _, word := range []string{"four", "five"} { // a summary alone is not summarised again
		l.send("MOCK: text answer " + word)
		l.See("● answer " + word)
		l.ready()
	}
	l.send("MOCK: too-long")
	l.See("Context limit reached · /compact or /clear to continue")
	l.ready()
	compacted := 0
	for _, r := range l.API.Requests() {
		if r.Kind == modelapi.KindCompact {
			compacted++
		}
	}
	if compacted < 2 {
		t.Errorf("the model was asked for %d summaries", compacted)
	}
}

// TestQueued sends messages while a turn runs: each is delivered after it, once.
func TestQueued(t *testing.T) {
	l := newLab(t, Ready())
	l.ready()
	l.send("MOCK: slow 12 250")
	l.See("line 002", "esc to interrupt")
	l.send("MOCK: text the first that waited")
	l.See("Press up to edit queued messages")
	l.See("slow end")
	l.See("● the first that waited")
	l.ready()
	l.once("MOCK: slow 12 250")
	l.once("MOCK: text the first that waited")
}
