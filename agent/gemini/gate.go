package gemini

import "berth/agent/hooks"

// GoOn blocks the AfterAgent hook: the text starts another turn at once, as if the user had sent
// it, with its own BeforeAgent.
func (Driver) GoOn(text string) ([]byte, error) {
	return hooks.GoOn(text)
}

// Context puts the text into the conversation, as a user message in <hook_context>. Gemini escapes
// < and > in it as &lt; and &gt;.
func (Driver) Context(text string) ([]byte, error) {
	return hooks.Context(text)
}
