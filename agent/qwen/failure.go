package qwen

import (
	"cmp"
	"strings"

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

// failure is an error: kind is the hook's word for it, text its text.
func failure(kind, text string) *agent.Failure {
	f := &agent.Failure{Class: agent.OtherFailure, Text: text}
	low := strings.ToLower(text)
	for _, word := range []string{"connection error", "fetch failed", "econn", "enotfound", "etimedout", "terminated", "premature", "stream ended", "socket"} {
		if strings.Contains(low, word) {
			f.Class = agent.Network
		}
	}
	number := 0
	if m := status.FindStringSubmatch(text); m != nil {
		number = pattern.Number(m[1])
	}
	f.Class = cmp.Or(forks.Class(number), classes[kind], f.Class)
	if strings.Contains(low, "maximum context length") || strings.Contains(low, "context window") {
		f.Class = agent.ContextFull
	}
	return f
}
