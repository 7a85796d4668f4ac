//go:build agents

package qwen

import (
	"testing"

	"berth/test/agents/modelapi"
	"berth/test/agents/testbed"
)

// TestAttribution: a command that commits, or makes a pull request, runs as its prompt shows it. Qwen Code's addition to the
// message would end a quoted text, and make a command of the comment.
func TestAttribution(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	commands := []string{
		`git init -q . && git -c user.name=a -c user.email=b commit --allow-empty -qm "first"`,
		`git -c user.name=a -c user.email=b commit --allow-empty -qm $'it\'s fixed' # was -m "fixed"" ; touch commit.txt #'`,
		`gh pr create -t x $'it\'s fixed' # was -b "fixed"" ; touch pr.txt #'`,
	}
	steps := []modelapi.Step{}
	for _, c := range commands {
		steps = append(steps, say(runs(c)))
	}
	l.API.Queue(modelapi.Scenario{Steps: append(steps, say(text("Finished.")))})
	l.Nudge("commit it")
	for _, c := range commands {
		p := l.PromptUntil("that of "+c, func(p testbed.Shown) bool { return p.Input == c })
		l.Respond("hook", "accepted", "--prompt", p.ID, "accept")
	}
	l.Is("idle")
	if l.Made("commit.txt") || l.Made("pr.txt") || !l.Made(".git") {
		t.Errorf("a comment ran: %v, %v", l.Made("commit.txt"), l.Made("pr.txt"))
	}
}
