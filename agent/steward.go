package agent

// Steward is a Driver whose agent asks by a hook before it rests, and when a
// conversation begins. It is pure.
type Steward interface {
	// GoOn is what the hook that waits at a turn's end prints so that the agent
	// goes on, with the text for it.
	GoOn(text string) ([]byte, error)
	// Context is what the hook that waits at a conversation's begin prints so
	// that the agent has the text beside its own instructions.
	Context(text string) ([]byte, error)
}
