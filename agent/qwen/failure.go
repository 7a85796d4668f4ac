package qwen

import (
	"strings"

	"berth/agent"
	"berth/agent/pattern"
)

// classes are the kinds of failures that StopFailure reports.
var classes = map[string]agent.Class{
	"authentication_failed": agent.Unauthorized, "billing_error": agent.OutOfCredits, "rate_limit": agent.RateLimited,
	"invalid_request": agent.Invalid, "server_error": agent.Overloaded,
}

// status matches the API's status in an error's text.
var status = pattern.New(`^(?:\[API Error: )?(\d{3})\b`)

// statuses are the classes by the API's status.
var statuses = map[string]agent.Class{
	"400": agent.Invalid, "401": agent.Unauthorized, "402": agent.OutOfCredits, "403": agent.Unauthorized, "404": agent.Invalid,
	"422": agent.Invalid, "429": agent.RateLimited, "500": agent.Overloaded, "502": agent.Overloaded, "503": agent.Overloaded, "529": agent.Overloaded,
}

// failure is an error: kind is the hook's word for it, text its text.
func failure(kind, text string) *agent.Failure {
	f := &agent.Failure{Class: agent.OtherFailure, Text: text}
	low := strings.ToLower(text)
	for _, word := range []string{"connection error", "fetch failed", "econn", "enotfound", "etimedout", "terminated", "premature", "stream ended", "socket"} {
		if strings.Contains(low, word) {
			f.Class = agent.Network
		}
	}
	if m := status.FindStringSubmatch(text); m != nil && statuses[m[1]] != "" {
		f.Class = statuses[m[1]]
	} else if classes[kind] != "" {
		f.Class = classes[kind]
	}
	if strings.Contains(low, "maximum context length") || strings.Contains(low, "context window") {
		f.Class = agent.ContextFull
	}
	return f
}
