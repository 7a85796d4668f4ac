package gemini

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"berth/agent"
	"berth/agent/forks"
	"berth/agent/hooks"
	"berth/agent/userfiles"
)

// events are the hooks that Berth sets: those of the conversation. AfterModel, BeforeModel and
// BeforeToolSelection are left out: Gemini waits for them at every piece of an answer and redraws
// all of it each time.
var events = []string{
	"SessionStart", "SessionEnd", "BeforeAgent", "AfterAgent", "BeforeTool", "AfterTool", "PreCompress", "Notification",
}

// ofSessions are variables that name another agent's session.
var ofSessions = []string{"GEMINI_CLI", "GEMINI_SESSION_ID", "GEMINI_PROJECT_DIR", "GEMINI_CWD", "GEMINI_PLANS_DIR", "CLAUDE_PROJECT_DIR"}

// again is the exit status that asks for a restart, after the user chose whether to trust the
// folder or how to log in. Without Berth Gemini restarts itself: then there are two processes, the
// first one passes no signal on, and both outlive the terminal.
const again = 199

// Command is the default command.
func (Driver) Command() []string { return []string{"gemini"} }

// Launch gives Gemini a home of the session's own: links to the user's files, and settings with
// Berth's hooks. Gemini reads hooks from no other place that a user may write to.
func (Driver) Launch(s agent.Start) (agent.Launch, error) {
	l, follows := forks.Begin(s, subcommands, ofSessions)
	if !follows {
		return l, nil
	}
	h := home{disk: s.Disk, own: filepath.Join(s.Folder, Name), users: usersHome(s.Env)}
	l.Again = []int{again}
	l.LogFiles = filepath.Join(h.users, filesName, "tmp", "*", "chats", "session-*-%.8s.jsonl")
	l.Default = map[string]string{"GEMINI_CLI_NO_RELAUNCH": "true"}
	if s.Trust {
		l.Default["GEMINI_CLI_TRUST_WORKSPACE"] = "true"
	}
	if s.Isolate == agent.IsolateFull || s.Hook != "" || len(s.Settings) > 0 || len(s.MCP) > 0 {
		l.Set = map[string]string{homeVariable: h.own}
		l.LogFiles = filepath.Join(h.own, filesName, "tmp", "*", "chats", "session-*-%.8s.jsonl")
		if err := h.make(&l, s); err != nil {
			return l, err
		}
	}
	words, err := h.conversations().Choose(&l, s)
	if err != nil {
		return l, err
	}
	l.Argv = slices.Insert(l.Argv, min(1, len(l.Argv)), words...)
	return l, nil
}

// subcommands have no conversation.
var subcommands = []string{"mcp", "extensions", "extension", "skills", "skill", "hooks", "hook"}

// settings are the user's settings with the session's merged over them, the session's MCP servers,
// and Berth's hooks after all others.
func (h home) settings(s agent.Start) ([]byte, error) {
	given := map[string]any{}
	if s.Isolate != agent.IsolateFull {
		var err error
		if given, err = h.usersSettings(); err != nil {
			return nil, err
		}
	}
	if s.Isolate == agent.IsolateFull && s.Groom == agent.GroomAuto && s.Own["GEMINI_API_KEY"] != "" {
		given["security"] = map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}}
	}
	all := userfiles.Merge(given, s.Settings)
	all = userfiles.Merge(all, forks.Servers(s.MCP))
	if s.Hook != "" {
		hooks, err := withOurs(all["hooks"], s)
		if err != nil {
			return nil, err
		}
		all["hooks"] = hooks
		if ui, ok := all["ui"].(map[string]any); ok {
			all = userfiles.Merge(all, map[string]any{"ui": readable(ui)})
		}
	}
	out, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode what Gemini is started with: %w", err)
	}
	return append(out, '\n'), nil
}

// readable turns off what keeps Berth from reading the screen: the banner shows that Gemini has started
// up, and the alternate screen scrolls a part of a dialog out of view.
func readable(ui map[string]any) map[string]any {
	off := map[string]any{}
	for _, name := range []string{"hideBanner", "useAlternateBuffer"} {
		if ui[name] == true {
			off[name] = false
		}
	}
	return off
}

type hookCommand struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"` // milliseconds
}

type hookGroup struct {
	Hooks []hookCommand `json:"hooks"`
}

// ours is the hook command for an event.
func ours(s agent.Start, event string) hookCommand {
	command, timeout := hooks.Command(s, event, "AfterAgent")
	return hookCommand{Type: "command", Name: "berth", Command: command, Timeout: int(timeout.Milliseconds())}
}

// withOurs appends Berth's hooks to the caller's.
func withOurs(callers any, s agent.Start) (map[string]any, error) {
	all := map[string]any{}
	if callers != nil {
		given, ok := callers.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%w: settings.hooks isn't a map of events; write hooks: {AfterAgent: [{hooks: [...]}]}", agent.ErrStart)
		}
		maps.Copy(all, given)
	}
	for _, e := range events {
		before, ok := all[e].([]any)
		if !ok && all[e] != nil {
			return nil, fmt.Errorf("%w: settings.hooks.%s isn't a list; write %s: [{hooks: [{type: command, command: ...}]}]", agent.ErrStart, e, e)
		}
		all[e] = append(slices.Clone(before), hookGroup{[]hookCommand{ours(s, e)}})
	}
	return all, nil
}
