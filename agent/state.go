// Package agent has the types that drivers, detection and sessions share: facts, states, prompts,
// readings of the screen, answers, and the interface Driver with its optional ones (optional.go).
// It imports only api and agent/pattern; it knows nothing of sessions or SSH. A driver's methods are pure, so any
// number of goroutines may call them.
package agent

// State is what an agent is doing.
type State string

// The states. Parked is an error that ends by itself, at a time that the agent has named. Unknown: the sources don't show which other state it is.
const (
	Starting   State = "starting"
	Working    State = "working"
	Idle       State = "idle"
	Prompt     State = "prompt"
	InError    State = "error"
	Parked     State = "parked"
	Restarting State = "restarting"
	Exited     State = "exited"
	Unknown    State = "unknown"
)

// States lists all of them, in a session's usual order.
var States = []State{Starting, Working, Idle, Prompt, InError, Parked, Restarting, Exited, Unknown}

// Rests reports whether an agent in this state takes messages: it does nothing and asks nothing.
func (s State) Rests() bool { return s == Idle || s == InError || s == Parked }

// Tiers of evidence; 1 is the most reliable.
const (
	TierAgent   = 1 // the agent reports it as it happens
	TierLog     = 2 // the agent's session log
	TierStream  = 3 // the agent's structured output
	TierProcess = 4 // the process and the PTY
	TierScreen  = 5 // what the screen shows
)
