package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"berth/agent"
	"berth/agent/drivers"
)

// conversationID matches any agent's name of a conversation, up to maxConversationID bytes. A bound
// within the expression would cost 0.4 ms at each start of berth.
var conversationID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

const maxConversationID = 128

// agent checks the fields about how an agent is started.
func (v *validation) agent(field string, s Session) {
	at := func(name string) string { return join(field, name) }
	if s.Agent != "" {
		v.oneOf(at("agent"), s.Agent, drivers.Names()...)
	}
	if s.Isolate != "" {
		v.oneOf(at("isolate"), s.Isolate, "hooks", "full", "none")
	}
	if s.Groom != "" {
		v.oneOf(at("groom"), s.Groom, "auto", "manual", "pristine")
	}
	v.pristine(field, s)
	for _, f := range []struct{ name, value string }{{"conversation", s.Conversation}, {"resume", s.Resume}} {
		if f.value != "" && (len(f.value) > maxConversationID || !conversationID.MatchString(f.value)) {
			v.add(at(f.name), quote(f.value)+" isn't the id of a conversation", "write the agent's own id of it")
		}
	}
	if s.Prompt != "" && strings.TrimSpace(s.Prompt) == "" {
		v.add(at("prompt"), "the message is empty", "write one, or remove it")
	}
	if s.Conversation != "" && s.Resume != "" {
		v.add(at("conversation"), "resume already names the conversation", "remove one of the two")
	}
	if s.Agent == agent.Generic {
		for _, f := range []struct {
			name string
			set  bool
		}{
			{"prompt", s.Prompt != "" && s.Rules == ""}, {"conversation", s.Conversation != ""}, {"resume", s.Resume != ""},
			{"settings", s.Settings != nil}, {"mcp", s.MCP != nil},
		} {
			if f.set {
				v.add(at(f.name), "it has no effect for a generic agent", "name another agent, or remove it")
			}
		}
	}
	v.settings(at("settings"), s.Settings)
	v.mcp(at("mcp"), s.MCP)
}

// pristine changes nothing about the agent, so fields that would are a contradiction.
func (v *validation) pristine(field string, s Session) {
	if s.Groom != "pristine" {
		return
	}
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"isolate", s.Isolate != "" && s.Isolate != "none"}, {"trust", s.Trust != nil && *s.Trust}, {"accept_bypass", s.AcceptBypass != nil && *s.AcceptBypass},
		{"settings", s.Settings != nil}, {"mcp", s.MCP != nil},
	} {
		if f.set {
			v.add(join(field, f.name), "groom: pristine leaves the agent as it is", "remove it, or write groom: manual")
		}
	}
}

// shared refuses fields that only one session can have.
func (v *validation) shared(field string, s Session) {
	if s.Conversation != "" {
		v.add(field+".conversation", "many sessions use this, and they can't share a conversation", "remove it")
	}
}

// settings checks the form of hooks; the agent checks the rest.
func (v *validation) settings(field string, settings map[string]any) {
	hooks, ok := settings["hooks"]
	if !ok {
		return
	}
	events, ok := hooks.(map[string]any)
	if !ok {
		v.add(field+".hooks", "expected a group of events", "write hooks: {Stop: [{hooks: [{type: command, command: ...}]}]}")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(events)) {
		if _, ok := events[name].([]any); !ok {
			v.add(join(field+".hooks", quoteKey(name)), "expected a list", "write "+quoteFree(name)+": [{hooks: [{type: command, command: ...}]}]")
		}
	}
}

// mcp checks that each tool server has a command or a URL, or is this one.
func (v *validation) mcp(field string, mcp map[string]any) {
	if whole, ok := mcp["mcpServers"].(map[string]any); ok {
		field, mcp = field+".mcpServers", whole
	}
	for _, name := range slices.Sorted(maps.Keys(mcp)) {
		server, ok := mcp[name].(map[string]any)
		if mcp[name] == agent.OwnTools {
			continue
		}
		if !ok || server["command"] == nil && server["url"] == nil {
			v.add(join(field, quoteKey(name)), "a server needs a command or a url", fmt.Sprintf("write %s: {command: PROGRAM, args: [...]}, or %[1]s: berth for the tools of this server", strings.TrimSpace(quoteFree(name))))
		}
	}
}
