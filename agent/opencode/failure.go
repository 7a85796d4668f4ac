package opencode

import (
	"cmp"
	"slices"
	"strings"

	"berth/agent"
)

// errorAborted is the name of the error of an interrupted turn.
const errorAborted = "MessageAbortedError"

// failures are the errors by their class: names of errors, the API's statuses from and to, and words in the text.
// The first one that fits counts. Without a status, the model's server was not reached, or its answer broke off.
var failures = []struct {
	class    agent.Class
	name     string
	from, to int
	words    []string
}{
	{agent.ContextFull, "ContextOverflowError", -1, -1, []string{"context length", "context window", "too long", "maximum context"}},
	{agent.OutOfCredits, "", 402, 402, []string{"insufficient_quota", "credit balance", "billing"}},
	{agent.Unauthorized, "ProviderAuthError", 401, 401, nil},
	{agent.Unauthorized, "", 403, 403, nil},
	{agent.RateLimited, "", 429, 429, nil},
	{agent.Overloaded, "", 500, 999, nil},
	{agent.Invalid, "", 400, 499, nil},
	{agent.Network, "", -1, -1, []string{
		"unable to connect", "socket", "connection", "econn", "network", "fetch failed", "timed out", "timeout", "terminated",
	}},
}

// failure classifies an error.
func (e *errorReport) failure() *agent.Failure {
	f := &agent.Failure{Class: agent.OtherFailure, Text: cmp.Or(e.Message, e.Name)}
	low := strings.ToLower(e.Message + " " + e.Body)
	for _, c := range failures {
		has := slices.ContainsFunc(c.words, func(word string) bool { return strings.Contains(low, word) })
		if has || c.name != "" && c.name == e.Name || e.Status >= c.from && e.Status <= c.to {
			f.Class = c.class
			break
		}
	}
	return f
}
