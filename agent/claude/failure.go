package claude

import (
	"slices"
	"strings"

	"berth/agent"
	"berth/agent/pattern"
)

// failure classifies an error by Claude's own code, and by its text if the code says too little.
func failure(code, detail, text string) *agent.Failure {
	return &agent.Failure{Class: class(code, detail), Text: text}
}

// byCode are the classes of the codes that say enough.
var byCode = map[string]agent.Class{
	"authentication_failed": agent.Unauthorized,
	"oauth_org_not_allowed": agent.Unauthorized,
	"billing_error":         agent.OutOfCredits,
	"rate_limit":            agent.RateLimited,
	"overloaded":            agent.Overloaded,
}

// statusOf finds the HTTP status in an error's text. The text may have other numbers too, such as a
// gateway's port.
var statusOf = pattern.New(`(?i)\bapi error: (\d{3})\b|\((\d{3})\)`)

func class(code, detail string) agent.Class {
	low := strings.ToLower(detail)
	if c, ok := byCode[code]; ok {
		return c
	}
	if hasAny(low, "prompt is too long", "context limit", "context window") {
		return agent.ContextFull
	}
	if code == "invalid_request" {
		return agent.Invalid
	}
	if hasAny(low, "connection closed", "connection error", "connection was closed", "econn", "enotfound", "etimedout",
		"timed out", "fetch failed", "unable to connect", "socket") {
		return agent.Network
	}
	if hasAny(low, "credit balance") {
		return agent.OutOfCredits
	}
	if m := statusOf.FindStringSubmatch(detail); m != nil {
		return classOfStatus(m[1] + m[2])
	}
	switch {
	case hasAny(low, "invalid api key", "/login"):
		return agent.Unauthorized
	case hasAny(low, "rate limit"):
		return agent.RateLimited
	case hasAny(low, "overloaded"), code == "server_error":
		return agent.Overloaded
	case hasAny(low, "usage policy"):
		return agent.Invalid
	}
	return agent.OtherFailure
}

func classOfStatus(status string) agent.Class {
	switch {
	case status == "401", status == "403":
		return agent.Unauthorized
	case status == "429":
		return agent.RateLimited
	case status[0] == '4':
		return agent.Invalid
	case status[0] == '5':
		return agent.Overloaded
	}
	return agent.OtherFailure
}

func hasAny(text string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}
