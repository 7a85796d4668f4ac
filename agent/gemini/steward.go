package gemini

import (
	"encoding/json"
	"fmt"

	"berth/agent"
)

var _ agent.Steward = Driver{}

// GoOn blocks the AfterAgent: the text begins another turn at once, as if the
// user had sent it, with a BeforeAgent of its own.
func (Driver) GoOn(text string) ([]byte, error) {
	return output(map[string]string{"decision": "block", "reason": text})
}

// Context puts the text into the conversation, as a message of the user's in
// <hook_context>; Gemini writes < and > in it as &lt; and &gt;.
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
