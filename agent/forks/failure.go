package forks

import "berth/agent"

// classes are the classes of HTTP statuses below 500.
var classes = map[int]agent.Class{
	400: agent.Invalid, 401: agent.Unauthorized, 402: agent.OutOfCredits, 403: agent.Unauthorized, 404: agent.Invalid,
	413: agent.ContextFull, 422: agent.Invalid, 429: agent.RateLimited,
}

// Class is the class of an error with that HTTP status; empty if the status doesn't say.
func Class(status int) agent.Class {
	if status >= 500 {
		return agent.Overloaded
	}
	return classes[status]
}
