package gemini

import (
	"strings"

	"berth/agent"
	"berth/agent/pattern"
)

// failureMark starts the line of an error, in the first column. The model's text is indented.
const failureMark = "✕ "

// failure is the error of such a line, without its mark.
func failure(text string) *agent.Failure {
	return &agent.Failure{Class: class(text), Text: text}
}

// code matches the API's error number, in the JSON that the line quotes.
var code = pattern.New(`"code":\s*(\d{3})`)

// class classifies an error by the API's code. Without one, or if the code says too little, it uses
// the error's text.
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
