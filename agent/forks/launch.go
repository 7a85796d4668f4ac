package forks

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"berth/agent"
	"berth/agent/hooks"
	"berth/agent/userfiles"
)

// terminals are variables that name the terminal or the multiplexer that an agent runs in. In some,
// Copilot CLI draws its composer in another way.
var terminals = []string{
	"TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TERMINAL_EMULATOR", "TMUX", "TMUX_PANE", "STY", "ZELLIJ*", "WT_SESSION", "KITTY_*", "ITERM_*",
	"VSCODE_*", "GHOSTTY_*", "WEZTERM_*", "ALACRITTY_*", "KONSOLE_*", "VTE_VERSION", "HERDR_*", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES",
}

// Begin is the launch of an agent without anything of Berth's. own are variables of the agent's sessions, which
// name another one. follows is false if Berth follows no conversation: with isolate none, and for a subcommand.
func Begin(s agent.Start, subcommands, own []string) (l agent.Launch, follows bool) {
	l = agent.Launch{Argv: slices.Clone(s.Argv), Headless: Prints(s.Argv)}
	if s.Isolate == agent.IsolateNone || Subcommand(s.Argv, subcommands) {
		return l, false
	}
	if s.Groom != agent.GroomPristine {
		l.Unset = slices.Concat(terminals, own)
	}
	return l, true
}

// Subcommand reports whether the command is one of the agent's that have no conversation.
func Subcommand(argv, subcommands []string) bool {
	return len(argv) > 1 && slices.Contains(subcommands, argv[1])
}

// Prints reports whether the command prints one answer and exits: -p, --prompt.
func Prints(argv []string) bool {
	for _, word := range argv[min(1, len(argv)):] {
		if word == "--" {
			return false
		}
		if word == "--prompt" || strings.HasPrefix(word, "--prompt=") || strings.HasPrefix(word, "-p") {
			return true
		}
	}
	return false
}

// Running is how an agent that a person has started in a shell can be followed. A command that only prints, and one
// without a conversation, isn't followed. Without its environment the agent's files aren't known.
func Running(argv, subcommands []string, env map[string]string, logFiles func(env map[string]string) string) (r agent.Running, ok bool) {
	if Subcommand(argv, subcommands) || Prints(argv) {
		return r, false
	}
	if env != nil {
		r.LogFiles = logFiles(env)
	}
	return r, true
}

// Hooks are the hooks that Berth sets in an agent's settings.
type Hooks struct {
	Events []string
	End    string // the event that ends a turn
	// Group is an event's hooks with that command.
	Group func(command string, timeout time.Duration) any
	// Answers has for an event the hooks that answer it, in place of the one that only reports.
	Answers map[string]func(s agent.Start) []any
	// Readable are settings that Berth needs to read the screen, by the settings so far. They come with the hooks.
	Readable func(all map[string]any) map[string]any
}

// groups are the hooks for an event.
func (h Hooks) groups(s agent.Start, event string) []any {
	if answers := h.Answers[event]; answers != nil {
		return answers(s)
	}
	return []any{h.Group(hooks.Command(s, event, h.End))}
}

// InUsers are all of Berth's hooks in the user's own settings file, which begins as empty. They only report.
func (h Hooks) InUsers(u agent.UserSettings, file, empty string) ([]agent.UserFile, error) {
	var list []hooks.Group
	for _, e := range h.Events {
		list = append(list, hooks.Group{Event: e, Hooks: h.Group(hooks.InSession(u.Hook, "--tell "+e), hooks.ReportLimit)})
	}
	changed, err := hooks.UserFile(u.Disk, file, empty, list)
	return []agent.UserFile{changed}, err
}

// Settings are the settings of a file with the session's merged over them, the session's MCP servers, and Berth's
// hooks after all others. The file may be missing. A home of the session's own signs in with the session's key.
func (h Hooks) Settings(s agent.Start, file, key, login string) (map[string]any, error) {
	all := map[string]any{}
	if s.Disk != nil && file != "" {
		var err error
		if all, err = userfiles.ReadObject(s.Disk, file, nil); err != nil {
			return nil, fmt.Errorf("%w: %s: %w; take comments out of it, or write isolate: none", agent.ErrStart, file, err)
		}
	}
	if s.Isolate == agent.IsolateFull && s.Groom == agent.GroomAuto && s.Own[key] != "" {
		all = userfiles.Merge(all, map[string]any{"security": map[string]any{"auth": map[string]any{"selectedType": login}}})
	}
	all = userfiles.Merge(userfiles.Merge(all, s.Settings), Servers(s.MCP))
	if s.Hook == "" {
		return all, nil
	}
	if h.Readable != nil {
		all = userfiles.Merge(all, h.Readable(all))
	}
	given, ok := all["hooks"].(map[string]any)
	if !ok && all["hooks"] != nil {
		return nil, fmt.Errorf("%w: settings.hooks isn't a map of events; write hooks: {%s: [{hooks: [...]}]}", agent.ErrStart, h.End)
	}
	ours := map[string]any{}
	for _, e := range h.Events {
		if _, ok := given[e].([]any); !ok && given[e] != nil {
			return nil, fmt.Errorf("%w: settings.hooks.%s isn't a list; write %s: [{hooks: [{type: command, command: ...}]}]", agent.ErrStart, e, e)
		}
		ours[e] = h.groups(s, e)
	}
	return userfiles.Merge(all, map[string]any{"hooks": ours}), nil
}

// ServersOf are the session's MCP servers, which may be given as a whole file of them.
func ServersOf(mcp map[string]any) map[string]any {
	if whole, ok := mcp["mcpServers"].(map[string]any); ok {
		return whole
	}
	return mcp
}

// Servers are the settings with the session's MCP servers.
func Servers(mcp map[string]any) map[string]any {
	if mcp = ServersOf(mcp); len(mcp) == 0 {
		return nil
	}
	return map[string]any{"mcpServers": mcp}
}

// Links are links in the folder own to the files of these names among the user's.
func Links(own, users string, names []string) map[string]string {
	links := map[string]string{}
	for _, name := range names {
		links[filepath.Join(own, name)] = filepath.Join(users, name)
	}
	return links
}

// Write adds files of JSON to the launch.
func Write(l *agent.Launch, files map[string]any) error {
	if l.Files == nil {
		l.Files = map[string][]byte{}
	}
	for name, v := range files {
		data, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			return fmt.Errorf("encode what the agent is started with: %w", err)
		}
		l.Files[name] = append(data, '\n')
	}
	return nil
}
