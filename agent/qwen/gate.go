package qwen

import "berth/agent/hooks"

// GoOn blocks the Stop hook: the turn goes on with the text.
func (Driver) GoOn(text string) ([]byte, error) { return hooks.GoOn(text) }

// Context puts the text before the conversation.
func (Driver) Context(text string) ([]byte, error) { return hooks.Context(text) }
