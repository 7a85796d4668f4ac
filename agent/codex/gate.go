package codex

import "berth/agent/hooks"

// GoOn blocks the Stop: the model gets the text as a message, and the turn goes
// on.
func (Driver) GoOn(text string) ([]byte, error) {
	return hooks.GoOn(text)
}

// Context adds the text to what the model is told at a SessionStart, which comes
// with the first message.
func (Driver) Context(text string) ([]byte, error) {
	return hooks.Context(text)
}
