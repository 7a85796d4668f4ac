// Package agent holds the words in which agents are spoken about. It is a
// leaf: it knows nothing of sessions, screens or SSH.
package agent

// State is what an agent is doing.
type State string

// The states. Unknown is said when nothing surer can be.
const (
	Starting   State = "starting"
	Working    State = "working"
	Idle       State = "idle"
	Prompt     State = "prompt"
	InError    State = "error"
	Restarting State = "restarting"
	Exited     State = "exited"
	Unknown    State = "unknown"
)

// States lists all of them in the order people meet them.
var States = []State{Starting, Working, Idle, Prompt, InError, Restarting, Exited, Unknown}

// Tiers of evidence, 1 the surest.
const (
	TierAgent   = 1 // the agent's own word as it happens
	TierLog     = 2 // its session log
	TierStream  = 3 // its structured output
	TierProcess = 4 // process and PTY
	TierScreen  = 5 // what its screen shows
)
