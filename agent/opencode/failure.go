package opencode

import (
	"cmp"
	"strings"

	"berth/agent"
	"berth/agent/forks"
)

// errorAborted is the name of the error of an interrupted turn.
const errorAborted = "MessageAbortedError"

// phrases are names of errors, and words in their texts, that say more than the API's status. Without a status, the
// model's server was not reached, or its answer broke off.
var (
	phrases = []agent.Phrases{
		{Class: agent.ContextFull, Words: []string{"contextoverflowerror", "context length", "context window", "too long", "maximum context"}},
		{Class: agent.OutOfCredits, Words: []string{"insufficient_quota", "credit balance", "billing"}},
		{Class: agent.Unauthorized, Words: []string{"providerautherror"}},
	}
	network = agent.Phrases{Class: agent.Network, Words: []string{
		"unable to connect", "socket", "connection", "econn", "network", "fetch failed", "timed out", "timeout", "terminated",
	}}
)

// failure classifies an error.
func (e *errorReport) failure() *agent.Failure {
	text := strings.Join([]string{e.Name, e.Message, e.Body}, " ")
	class := cmp.Or(agent.ClassIn(text, phrases...), forks.Class(e.Status))
	if class == "" && e.Status >= 400 {
		class = agent.Invalid
	}
	return &agent.Failure{Class: cmp.Or(class, agent.ClassIn(text, network), agent.OtherFailure), Text: cmp.Or(e.Message, e.Name)}
}
