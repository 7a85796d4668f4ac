package gemini_test

import (
	"errors"
	"testing"

	"berth/agent"
	"berth/agent/gemini"
)

// TestOptionWithoutRoom: an option that was cut off may allow more than was shown, so no key chooses it.
func TestOptionWithoutRoom(t *testing.T) {
	d := draw(box(mcpRows("", "ask")...)...).Dialog
	p := gemini.Driver{}.FromDialog(d)
	for n, cannot := range map[int]bool{1: false, 2: false, 3: true, 4: false} {
		if _, err := (gemini.Driver{}).Keys(p, agent.Answer{Kind: agent.ChooseOption, Option: n}, d); errors.Is(err, agent.ErrCannot) != cannot {
			t.Errorf("option %d of %q: %v", n, d.Labels(), err)
		}
	}
}
