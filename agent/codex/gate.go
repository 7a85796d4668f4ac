package codex

import "berth/agent/hooks"

// GoOn blocks the Stop hook: the model gets the text as a message, and the turn continues.
func (Driver) GoOn(text string) ([]byte, error) {
	return hooks.GoOn(text)
}

// Context adds the text to the model's context at a SessionStart, which comes with the first
// message.
func (Driver) Context(text string) ([]byte, error) {
	return hooks.Context(text)
}
