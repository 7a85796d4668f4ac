package agent

import "time"

// ActivityKind is what a working agent is at.
type ActivityKind string

// The activities.
const (
	Thinking   ActivityKind = "thinking"
	UsingTool  ActivityKind = "tool"
	Responding ActivityKind = "responding"
	Compacting ActivityKind = "compacting"
	Retrying   ActivityKind = "retrying"
	Output     ActivityKind = "output"
)

// Activity is what a working agent does.
type Activity struct {
	Kind    ActivityKind `json:"kind"`
	Tool    string       `json:"tool,omitempty"`     // of a tool
	Attempt int          `json:"attempt,omitempty"`  // of a retry, from 1
	Of      int          `json:"of,omitempty"`       // the number of attempts, if the agent says it
	DelayMS int64        `json:"delay_ms,omitempty"` // until the next attempt
}

// Class is what kind of failure ended a turn.
type Class string

// The classes of failure.
const (
	Unauthorized Class = "unauthorized"
	OutOfCredits Class = "out_of_credits"
	RateLimited  Class = "rate_limited"
	Overloaded   Class = "overloaded"
	Network      Class = "network"
	ContextFull  Class = "context_full"
	Invalid      Class = "invalid"
	OtherFailure Class = "other"
)

// Classes is the one list of them: what a rule may name.
var Classes = []Class{Unauthorized, OutOfCredits, RateLimited, Overloaded, Network, ContextFull, Invalid, OtherFailure}

// Failure is why the last turn failed. It holds until the next begins.
type Failure struct {
	Class Class     `json:"class"`
	Text  string    `json:"text"`
	Since time.Time `json:"since"`
}
