package track

import (
	"testing"
	"time"

	"berth/agent"
)

// keyed reads keys, and strict takes the answers of a terminal for them.
type (
	keyed  struct{ speaker }
	strict struct{ keyed }
)

func (keyed) ReadsKeys()            {}
func (strict) TakesAnswersForKeys() {}

// TestReplies: an answer that an agent may take for keys isn't typed at a dialog. Gemini CLI takes a "1" or a "2" from a CSI
// answer with a mark, Qwen Code a "1" from a color, and Codex one from a setting.
func TestReplies(t *testing.T) {
	const position, attributes, color, setting = "\x1b[12;1R", "\x1b[?1;2c", "\x1b]11;rgb:0000/0000/0000\x1b\\", "\x1bP1$r0m\x1b\\"
	for name, c := range map[string]struct {
		driver   agent.Driver
		asks     bool // a dialog is drawn
		reported bool // a hook has reported a prompt
		typed    map[string]bool
	}{
		"starts":         {strict{}, false, false, map[string]bool{position: true, attributes: true, color: true, setting: true}},
		"asks":           {keyed{}, true, false, map[string]bool{position: true, attributes: true}},
		"asks, strictly": {strict{}, true, false, map[string]bool{position: true}},
		"reported":       {speaker{}, false, true, map[string]bool{position: true}},
		"asks by rules":  {speaker{}, true, false, map[string]bool{position: true}},
	} {
		b := newBench()
		if b.d.driver = c.driver; c.asks {
			b.d.screen.reading = &agent.Reading{Dialog: &agent.Dialog{}}
		}
		if _, keys := c.driver.(agent.KeyReader); b.View().ReadsKeys != keys {
			t.Errorf("%s: it is shown that it reads keys: %v", name, !keys)
		}
		if c.reported {
			b.d.fold.Apply(agent.Fact{Kind: agent.Asked, Source: agent.SourceHook, Hook: "h", Tool: "Bash", Time: time.Now(),
				Request: &agent.Request{Type: agent.PromptPermission, Channel: agent.ChannelHook}})
		}
		for _, answer := range []string{position, attributes, color, setting} {
			if got := b.TakesReply([]byte(answer)); got != c.typed[answer] {
				t.Errorf("%s: %q is typed: %v", name, answer, got)
			}
		}
	}
}
