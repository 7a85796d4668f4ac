package codex_test

import (
	"testing"

	"berth/agent/codex"
	"berth/detect"
)

// TestHonestPromptsAreNotContested: in no recording is a prompt contested, without hooks and with them.
func TestHonestPromptsAreNotContested(t *testing.T) {
	reference(t).AllHonest(t, codex.Driver{}, 15, func(p detect.Pending, hooked bool) bool { return hooked || !p.Told })
}
