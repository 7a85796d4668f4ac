package opencode

import (
	"cmp"
	"strings"

	"berth/agent"
)

// Names of errors.
const (
	errorAborted  = "MessageAbortedError"
	errorAuth     = "ProviderAuthError"
	errorOverflow = "ContextOverflowError"
)

// failure classifies an error by its name and the API's status. Without a status, the model's server
// was not reached, or its answer broke off.
func (e *errorReport) failure() *agent.Failure {
	f := &agent.Failure{Class: agent.OtherFailure, Text: cmp.Or(e.Message, e.Name)}
	low := strings.ToLower(e.Message + " " + e.Body)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(low, w) {
				return true
			}
		}
		return false
	}
	switch s := e.Status; {
	case e.Name == errorOverflow, has("context length", "context window", "too long", "maximum context"):
		f.Class = agent.ContextFull
	case s == 402, has("insufficient_quota", "credit balance", "billing"):
		f.Class = agent.OutOfCredits
	case e.Name == errorAuth, s == 401, s == 403:
		f.Class = agent.Unauthorized
	case s == 429:
		f.Class = agent.RateLimited
	case s >= 500:
		f.Class = agent.Overloaded
	case s >= 400:
		f.Class = agent.Invalid
	case has("unable to connect", "socket", "connection", "econn", "network", "fetch failed", "timed out", "timeout", "terminated"):
		f.Class = agent.Network
	}
	return f
}
