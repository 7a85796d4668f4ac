package gemini

import (
	"strings"

	"berth/agent"
	"berth/agent/pattern"
)

// failureMark begins the line of an error, in the first column: what the model
// says is indented.
const failureMark = "✕ "

// failure is the error that a line tells, without its mark.
func failure(text string) *agent.Failure {
	return &agent.Failure{Class: class(text), Text: text}
}

// code is the API's own number for it, in the JSON that the line quotes.
var code = pattern.New(`"code":\s*(\d{3})`)

// class sorts an error by the API's code and, where there is none or it says
// too little, by its words.
func class(text string) agent.Class {
	low := strings.ToLower(text)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(low, w) {
				return true
			}
		}
		return false
	}
	if has("token count", "maximum number of tokens", "context window") {
		return agent.ContextFull
	}
	number := ""
	if m := code.FindStringSubmatch(text); m != nil {
		number = m[1]
	}
	switch {
	case number == "401", number == "403", has("unauthenticated", "permission_denied", "api key not valid"):
		return agent.Unauthorized
	case number == "402", has("billing"):
		return agent.OutOfCredits
	case number == "429", has("resource_exhausted", "usage limit", "quota"):
		return agent.RateLimited
	case number == "400", number == "404", has("invalid_argument"):
		return agent.Invalid
	case strings.HasPrefix(number, "5"), has("unavailable", "overloaded"):
		return agent.Overloaded
	case has("stream ended", "fetch failed", "econn", "enotfound", "etimedout", "timed out", "socket", "network", "malformed", "empty response", "terminated"):
		return agent.Network
	}
	return agent.OtherFailure
}
