package qwen

import "berth/agent"

// Subject reads the command or the change of a file from a tool's input.
func (Driver) Subject(p *agent.Request) (agent.Subject, bool) { return tooling.Subject(p) }
