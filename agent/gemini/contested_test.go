package gemini_test

import (
	"testing"

	"berth/agent"
	"berth/agent/gemini"
	"berth/detect"
	"berth/test/agents/truth"
)

// TestHonestPromptsAreNotContested: in no recording is a prompt contested, without hooks and with them.
func TestHonestPromptsAreNotContested(t *testing.T) {
	reference(t).AllHonest(t, gemini.Driver{}, 15, func(p detect.Pending, hooked bool) bool { return hooked || !p.Told })
}

// unasked is the driver in a session where another process ends each hook that asks, before it reports.
type unasked struct{ gemini.Driver }

func (d unasked) Hook(payload []byte) ([]agent.Fact, error) {
	return truth.ReportsNothingAsked(d.Driver.Hook(payload))
}

// TestHooksThatAreEnded: no dialog takes keys then, because it doesn't draw all.
func TestHooksThatAreEnded(t *testing.T) {
	ref, asked := reference(t), 0
	for _, name := range ref.Names(t) {
		if name == "12_beforetool_hook_allow" { // its only hook is for calls
			continue
		}
		asked += truth.Unreported(t, ref.Recording(t, name), unasked{})
	}
	if asked < 5 {
		t.Errorf("only %d prompts", asked)
	}
}
