package claude

import "berth/agent/hooks"

// GoOn blocks the Stop hook: the model gets the text as "Stop hook feedback".
func (Driver) GoOn(text string) ([]byte, error) {
	return hooks.GoOn(text)
}

// Context adds the text to the model's context at a SessionStart.
func (Driver) Context(text string) ([]byte, error) {
	return hooks.Context(text)
}
