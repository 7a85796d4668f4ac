package codex

import (
	"fmt"

	"berth/agent"
)

var _ agent.Steward = Driver{}

// GoOn blocks the Stop: the model gets the text as a message, and the turn goes
// on.
func (Driver) GoOn(text string) ([]byte, error) {
	return hookOutput(map[string]any{"decision": "block", "reason": text})
}

// Context adds the text to what the model is told at a SessionStart, which comes
// with the first message.
func (Driver) Context(text string) ([]byte, error) {
	return hookOutput(map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": "SessionStart", "additionalContext": text}})
}

func hookOutput(v any) ([]byte, error) {
	out, err := encode(v)
	if err != nil {
		return nil, fmt.Errorf("encode a hook's answer: %w", err)
	}
	return out, nil
}
