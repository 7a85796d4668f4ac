//go:build agents

package claude

import (
	"testing"

	"berth/test/agents/testbed"
)

// asks sends a message and waits for the prompt it leads to.
func (l *lab) asks(message string) testbed.Said {
	l.T.Helper()
	l.send(message)
	return l.Is("prompt")
}

// TestRespondPermission answers a command's permission by its options.
func TestRespondPermission(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")

	l.asks("MOCK: bash touch three.txt")
	l.Respond("hook", "denied", "option", l.optionTold("No"))
	l.Is("idle")
	if l.Made("three.txt") {
		t.Error("it was refused, and it ran")
	}

	l.asks("MOCK: bash touch always.txt")
	l.Respond("keys", "accepted", "option", l.optionTold("2")) // its label does not name all that the hook would grant
	l.Is("idle")
	if !l.Made("always.txt") {
		t.Error("accepted, and it did not run")
	}
	if newer(330) {
		return // its option is about the folder, and not the command
	}
	l.send("MOCK: bash touch again.txt") // allowed now
	l.See("● The command finished.")
	l.Is("idle")
	l.Poll(func() bool { return l.Made("again.txt") }, func() string { return "always allowed, and it asks again" })
}
