package claude

import (
	"encoding/json"
	"fmt"

	"berth/agent"
)

var _ agent.Steward = Driver{}

// GoOn blocks the Stop: the model gets the text as "Stop hook feedback".
func (Driver) GoOn(text string) ([]byte, error) {
	return output(map[string]string{"decision": "block", "reason": text})
}

// Context adds the text to what the model is told at a SessionStart.
func (Driver) Context(text string) ([]byte, error) {
	return output(map[string]any{"hookSpecificOutput": map[string]string{"hookEventName": "SessionStart", "additionalContext": text}})
}

func output(v any) ([]byte, error) {
	out, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode a hook's answer: %w", err)
	}
	return out, nil
}
