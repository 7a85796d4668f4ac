package qwen

import (
	"cmp"

	"berth/agent"
	"berth/agent/forks"
	"berth/agent/pattern"
)

// classes are the kinds of failures that StopFailure reports.
var classes = map[string]agent.Class{
	"authentication_failed": agent.Unauthorized, "billing_error": agent.OutOfCredits, "rate_limit": agent.RateLimited,
	"invalid_request": agent.Invalid, "server_error": agent.Overloaded,
}

// status matches the API's status in an error's text.
var status = pattern.New(`^(?:\[API Error: )?(\d{3})\b`)

// Words of errors without a status, or with one that says too little.
var (
	full    = agent.Phrases{Class: agent.ContextFull, Words: []string{"maximum context length", "context window"}}
	network = agent.Phrases{Class: agent.Network, Words: []string{
		"connection error", "fetch failed", "econn", "enotfound", "etimedout", "terminated", "premature", "stream ended", "socket",
	}}
)

// failure is an error: kind is the hook's word for it, text its text.
func failure(kind, text string) *agent.Failure {
	class := cmp.Or(agent.ClassIn(text, full), forks.Class(status.NumberIn(text)), classes[kind], agent.ClassIn(text, network), agent.OtherFailure)
	return &agent.Failure{Class: class, Text: text}
}
