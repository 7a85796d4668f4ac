//go:build agents

package qwen

import (
	"testing"

	"berth/test/agents/testbed"
)

// agentAsks is the prompt of the tool with that name, after a message, or of the subagent that runs.
func (l *lab) agentAsks(message, tool string) testbed.Shown {
	l.T.Helper()
	if message != "" {
		// On a busy machine the verdict may come late: the prompt is what counts here.
		if n := l.Nudge(message); n.Status != 0 && (n.Error == nil || n.Error.Code != "UNCONFIRMED") {
			l.T.Fatalf("%s: %+v %+v", message, n, n.Error)
		}
	}
	return l.PromptUntil("that of "+tool, func(p testbed.Shown) bool { return p.Tool == tool })
}

// TestSubagents: the prompt of a subagent's call is answered by its hook. While a person is attached, Qwen Code draws its dialog, which
// draws too little of a command to be answered by Berth's keys; the person's keys answer it.
func TestSubagents(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	for _, way := range [][3]string{{"accept", "accepted", "first"}, {"deny", "denied", "second"}} {
		p := l.agentAsks("MOCK: agent shell mkdir "+way[2], "agent")
		l.Respond("hook", "accepted", "--prompt", p.ID, "accept")
		p = l.agentAsks("", "run_shell_command")
		l.Respond("hook", way[1], "--prompt", p.ID, way[0])
		l.Is("idle")
	}
	if !l.Made("first") || l.Made("second") {
		t.Errorf("made: %v, %v", l.Made("first"), l.Made("second"))
	}
	l.Attach()
	p := l.asks("MOCK: agent shell mkdir third", "permission")
	l.Respond("keys", "accepted", "--takeover", "--prompt", p.ID, "accept")
	q := l.PromptUntil("the subagent's on the screen", func(p testbed.Shown) bool { return p.Tool == "run_shell_command" && p.OnScreen })
	l.See("Approval requested by general-purpose:")
	l.Refuses("NOT_READY", "--takeover", "--prompt", q.ID, "accept")
	check(t, l.Press(l.Ctx, "1"))
	l.Is("idle")
	if !l.Made("third") {
		t.Error("the person's key did not allow it")
	}
	p = l.asks("MOCK: shell mkdir fourth", "permission") // another dialog is not in doubt
	l.Respond("keys", "accepted", "--takeover", "--prompt", p.ID, "accept")
}

// TestAgentInTheBackground: while one runs, dialogs of the main agent are answered by keys.
func TestAgentInTheBackground(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	l.Attach()
	p := l.asks("MOCK: background hang", "permission")
	l.Respond("keys", "accepted", "--takeover", "--prompt", p.ID, "accept")
	l.Is("idle")
	p = l.asks("MOCK: shell mkdir beside", "permission")
	l.See("○.* Sub task")
	l.Respond("keys", "accepted", "--takeover", "--prompt", p.ID, "accept")
	l.Is("idle")
	if !l.Made("beside") {
		t.Error("accepted, and it did not run")
	}
}
