// Package drivers has the one list of the drivers. A new driver is registered by its line here.
// config takes the names of the agents from it, and cmd/berth gives the drivers to the server. All
// functions return new values, so they are safe for concurrent use.
package drivers

import (
	"berth/agent"
	"berth/agent/claude"
	"berth/agent/codex"
	"berth/agent/copilot"
	"berth/agent/gemini"
	"berth/agent/generic"
	"berth/agent/opencode"
	"berth/agent/qwen"
)

// list has each driver. A message that lists the agents has them in this order.
var list = []agent.Driver{
	claude.Driver{},
	codex.Driver{},
	copilot.Driver{},
	gemini.Driver{},
	opencode.Driver{},
	qwen.Driver{},
	generic.Driver{},
}

// Names returns the agents that the configuration may name.
func Names() []string {
	names := make([]string, 0, len(list))
	for _, d := range list {
		names = append(names, d.Name())
	}
	return names
}

// ByName returns the drivers by the names of their agents.
func ByName() map[string]agent.Driver {
	all := make(map[string]agent.Driver, len(list))
	for _, d := range list {
		all[d.Name()] = d
	}
	return all
}
