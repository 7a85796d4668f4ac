package codex

import (
	"cmp"
	"strings"

	"berth/agent"
)

// failure classifies an error by Codex's own code for it, if the log has one, and otherwise by its
// text.
func failure(code, text string) *agent.Failure {
	return &agent.Failure{Class: class(code, text), Text: text}
}

// classOf are the codes of Codex's log, in lower case without blanks and underscores.
var classOf = map[string]agent.Class{
	"contextwindowexceeded": agent.ContextFull,
	"usagelimitexceeded":    agent.OutOfCredits,
	"serveroverloaded":      agent.Overloaded,
	"internalservererror":   agent.Overloaded,
	"unauthorized":          agent.Unauthorized,
	"badrequest":            agent.Invalid,
}

// phrases are texts of its messages; the first match counts.
var phrases = []agent.Phrases{
	{Class: agent.ContextFull, Words: []string{"context window", "context length"}},
	{Class: agent.OutOfCredits, Words: []string{"quota exceeded", "billing", "usage limit", "insufficient_quota", "out of credits"}},
	{Class: agent.RateLimited, Words: []string{"429 too many", "status: 429", "status 429", "too many requests", "rate limit"}},
	{Class: agent.Unauthorized, Words: []string{"401 unauthorized", "403 forbidden", "unauthorized", "api key"}},
	{Class: agent.Overloaded, Words: []string{"high demand", "overloaded", "server is busy", "status 500", "status 502", "status 503", "status 529", "internal server error"}},
	{Class: agent.Network, Words: []string{
		"stream disconnected", "stream closed", "error sending request", "connection", "timed out", "timeout", "dns",
	}},
	{Class: agent.Invalid, Words: []string{"400 bad request", "status 4", "invalid_request", "invalid request"}},
}

func class(code, text string) agent.Class {
	if c, ok := classOf[strings.NewReplacer("_", "", " ", "", `"`, "").Replace(strings.ToLower(code))]; ok {
		return c
	}
	return cmp.Or(agent.ClassIn(text, phrases...), agent.OtherFailure)
}
