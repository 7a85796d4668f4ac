package gemini

import "berth/agent/hooks"

// GoOn blocks the AfterAgent: the text begins another turn at once, as if the
// user had sent it, with a BeforeAgent of its own.
func (Driver) GoOn(text string) ([]byte, error) {
	return hooks.GoOn(text)
}

// Context puts the text into the conversation, as a message of the user's in
// <hook_context>; Gemini writes < and > in it as &lt; and &gt;.
func (Driver) Context(text string) ([]byte, error) {
	return hooks.Context(text)
}
