package claude_test

import (
	"strings"
	"testing"

	"berth/agent"
	"berth/agent/claude"
	"berth/detect"
)

// TestHonestPromptsAreNotContested: in no recording is a prompt contested, without hooks and with them. Where hooks
// report, a prompt without one counts as contested, and some recordings have other hooks than Berth's. Recorded
// hooks don't wait, so a subagent's prompt and a form are contested; in a session their hooks take the answer. In two recordings a
// dialog left without an answer: another program's hook gave it, or the screen had a size that the recording doesn't have.
func TestHonestPromptsAreNotContested(t *testing.T) {
	reference(t).AllHonest(t, claude.Driver{}, 20, func(p detect.Pending, hooked bool) bool {
		byHook := p.Request.Agent != nil || p.Request.Type == agent.PromptForm
		name, _, _ := strings.Cut(p.Request.ID, "-")
		return p.Told == hooked && !(hooked && byHook) && name != "14_hook_answers" && name != "19_focus_resize"
	})
}
