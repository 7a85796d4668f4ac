package claude

import (
	"strings"

	"berth/agent"
)

// failure sorts an error by Claude's own word for it and, where that says too
// little, by its text.
func failure(code, detail, text string) *agent.Failure {
	return &agent.Failure{Class: class(code, detail), Text: text}
}

func class(code, detail string) agent.Class {
	low := strings.ToLower(detail)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(low, w) {
				return true
			}
		}
		return false
	}
	switch code {
	case "authentication_failed", "oauth_org_not_allowed":
		return agent.Unauthorized
	case "billing_error":
		return agent.OutOfCredits
	case "rate_limit":
		return agent.RateLimited
	case "overloaded":
		return agent.Overloaded
	case "invalid_request":
		if has("prompt is too long", "context limit", "context window") {
			return agent.ContextFull
		}
		return agent.Invalid
	}
	switch {
	case has("prompt is too long", "context limit"):
		return agent.ContextFull
	case has("connection closed", "connection error", "connection was closed", "econn", "enotfound", "etimedout",
		"timed out", "fetch failed", "unable to connect", "socket"):
		return agent.Network
	case has("credit balance"):
		return agent.OutOfCredits
	case has("invalid api key", "/login", "401", "403"):
		return agent.Unauthorized
	case has("(429)", "rate limit"):
		return agent.RateLimited
	case has("overloaded", "api error: 5", " 529 "), code == "server_error":
		return agent.Overloaded
	case has("api error: 400", "api error: 4", "usage policy"):
		return agent.Invalid
	}
	return agent.OtherFailure
}
