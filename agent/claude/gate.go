package claude

import "berth/agent/hooks"

// GoOn blocks the Stop: the model gets the text as "Stop hook feedback".
func (Driver) GoOn(text string) ([]byte, error) {
	return hooks.GoOn(text)
}

// Context adds the text to what the model is told at a SessionStart.
func (Driver) Context(text string) ([]byte, error) {
	return hooks.Context(text)
}
