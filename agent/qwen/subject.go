package qwen

import (
	"berth/agent"
	"berth/agent/forks"
)

// Subject reads the command or the change of a file from a tool's input.
func (Driver) Subject(p *agent.Request) (agent.Subject, bool) {
	return forks.Subject(p, toolEdit, "replace_all")
}
