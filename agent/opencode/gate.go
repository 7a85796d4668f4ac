package opencode

import "berth/agent/hooks"

// GoOn makes the plugin send the text as the next message, once the turn is over.
func (Driver) GoOn(text string) ([]byte, error) { return hooks.GoOn(text) }

// Context makes the plugin add the text to the model's instructions.
func (Driver) Context(text string) ([]byte, error) { return hooks.Context(text) }
