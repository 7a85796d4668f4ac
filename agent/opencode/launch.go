package opencode

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"berth/agent"
	"berth/agent/forks"
	"berth/agent/userfiles"
)

// plugin is what opencode runs.
//
//go:embed plugin.js
var plugin []byte

// configVariable has settings that opencode merges over all of its files.
const configVariable = "OPENCODE_CONFIG_CONTENT"

// Files in the session's folder.
const (
	pluginName = "berth.js"
	secretName = "secret-" // and a number
	talksName  = "talks"   // a file for each conversation that the plugin has seen a message of
	talks      = Name + "/" + talksName + "/*/%s.jsonl"
)

// unset are variables that tell opencode which terminal or agent's session it runs in.
var unset = []string{
	"TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TERMINAL_EMULATOR", "TMUX", "TMUX_PANE", "STY", "ZELLIJ*", "WT_SESSION", "KITTY_*", "ITERM_*",
	"VSCODE_*", "GHOSTTY_*", "WEZTERM_*", "ALACRITTY_*", "KONSOLE_*", "VTE_VERSION", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES",
	"OPENCODE", "OPENCODE_PID", "OPENCODE_CALLER", "AGENT",
}

// Command is the default command.
func (Driver) Command() []string { return []string{"opencode"} }

// ChoosesConversations: opencode has no option for a new conversation's id.
func (Driver) ChoosesConversations() {}

// subcommands show no conversation on the terminal.
var subcommands = []string{
	"completion", "acp", "mcp", "attach", "run", "debug", "providers", "auth", "agent", "upgrade", "uninstall", "serve", "web", "models", "stats",
	"export", "import", "github", "pr", "session", "plugin", "plug", "db",
}

// Launch adds Berth's plugin to the settings that opencode reads from its environment. It writes none
// of the user's files.
func (d Driver) Launch(s agent.Start) (agent.Launch, error) {
	l := agent.Launch{Argv: slices.Clone(s.Argv)}
	if forks.Subcommand(s.Argv, subcommands) {
		l.Headless = s.Argv[1] == "run"
		return l, nil
	}
	own := filepath.Join(s.Folder, Name)
	l.LogFiles = filepath.Join(s.Folder, talks)
	if s.Isolate != agent.IsolateNone {
		if s.Groom != agent.GroomPristine {
			l.Unset = unset
		}
		l.Set, l.Files = map[string]string{}, map[string][]byte{}
		l.Folders = []string{own, filepath.Join(own, talksName), filepath.Join(own, talksName, Name)}
		if s.Isolate == agent.IsolateFull {
			ownHome(&l, s, own)
		}
		if err := configure(&l, s, own); err != nil {
			return l, err
		}
	}
	return l, d.conversations(s.Disk, l.LogFiles, s.ForkFolder).Choose(&l, s)
}

// homes are the folders that opencode keeps its files in, by their variables.
var homes = map[string]string{"XDG_CONFIG_HOME": "config", "XDG_DATA_HOME": "data", "XDG_STATE_HOME": "state", "XDG_CACHE_HOME": "cache"}

// ownHome gives opencode folders of the session's own, with the user's sign-in.
func ownHome(l *agent.Launch, s agent.Start, own string) {
	users := cmp.Or(s.Env["XDG_DATA_HOME"], filepath.Join(s.Env["HOME"], ".local", "share"))
	for variable, name := range homes {
		l.Set[variable] = filepath.Join(own, name)
		l.Folders = append(l.Folders, l.Set[variable])
	}
	data := filepath.Join(l.Set["XDG_DATA_HOME"], Name)
	l.Folders = append(l.Folders, data)
	l.Links = map[string]string{filepath.Join(data, "auth.json"): filepath.Join(users, Name, "auth.json")}
}

// configure merges the session's settings over those in the environment, and adds the plugin.
func configure(l *agent.Launch, s agent.Start, own string) error {
	all, err := userfiles.Object([]byte(cmp.Or(s.Env[configVariable], "{}")))
	if err != nil {
		return fmt.Errorf("%w: %s: %w; take comments out of it, or write isolate: none", agent.ErrStart, configVariable, err)
	}
	all = userfiles.Merge(all, s.Settings)
	servers, err := servers(s.MCP)
	if err != nil {
		return err
	}
	if len(servers) > 0 {
		all = userfiles.Merge(all, map[string]any{"mcp": servers})
	}
	if s.Hook != "" {
		file := filepath.Join(own, pluginName)
		l.Files[file] = pluginFile(map[string]string{"hook": s.Hook, "end": s.EndAsks, "start": s.StartAsks, "talks": filepath.Join(own, talksName, Name)})
		// A mark in the place of a long paste would send a blank after the text.
		all = userfiles.Merge(all, map[string]any{"plugin": []any{"file://" + file}, "experimental": map[string]any{"disable_paste_summary": true}})
	}
	if len(all) == 0 {
		return nil
	}
	data, err := json.Marshal(withoutSecrets(l, filepath.Join(own, secretName), all))
	if err != nil {
		return fmt.Errorf("encode opencode's settings: %w", err)
	}
	l.Set[configVariable] = string(data)
	return nil
}

// withoutSecrets has references to files for the secrets in the settings: every command that the agent runs has
// opencode's environment. opencode reads a file without blanks at its ends, and doesn't look for references in it.
func withoutSecrets(l *agent.Launch, file string, settings map[string]any) any {
	return userfiles.Replace(settings, func(text string, path []string) string {
		if len(path) != 4 || text == "" || strings.TrimSpace(text) != text || strings.Contains(text, "{file:") || strings.Contains(text, "{env:") {
			return text
		}
		if kind := path[0] + " " + path[2]; !slices.Contains(secrets, kind) && !slices.Contains(secrets, path[3]) {
			return text
		}
		name := file + strconv.Itoa(len(l.Files))
		l.Files[name] = []byte(text)
		return "{file:" + name + "}"
	})
}

// secrets are the first and the third name on a secret's path, or its last one.
var secrets = []string{"mcp environment", "mcp headers", "clientSecret", "apiKey"}

// servers are the session's MCP servers in opencode's form: a command is a list with its arguments.
func servers(given map[string]any) (map[string]any, error) {
	all := map[string]any{}
	for name, server := range forks.ServersOf(given) {
		fields, ok := server.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%w: the server %q of mcp isn't a map; write {command: PROGRAM, args: [...]}", agent.ErrStart, name)
		}
		command, ok := fields["command"].(string)
		if !ok {
			all[name] = fields // already so, or an address
			continue
		}
		args, _ := fields["args"].([]any)
		one := map[string]any{"type": "local", "command": append([]any{command}, args...)}
		if env, ok := fields["env"].(map[string]any); ok {
			one["environment"] = env
		}
		all[name] = one
	}
	return all, nil
}

// ways are the options that choose a conversation. Those of the command were for the first start.
var ways = map[string]string{"--session": "value", "-s": "value", "--continue": "", "-c": "", "--fork": ""}

// conversations are those that the plugin has seen a message of. opencode's ids start with ses_.
func (d Driver) conversations(disk fs.FS, logFiles, others string) forks.Chosen {
	return forks.Chosen{
		Name: Name, Ways: ways, Resume: "--session", Latest: []string{"--continue"},
		Has:   func(id string) bool { return d.HasConversation(disk, logFiles, id) },
		Known: func(id string) bool { return strings.HasPrefix(id, "ses_") },
		Fork: func(id string) (words []string) {
			if d.HasConversation(disk, filepath.Join(others, talks), id) {
				words = []string{"--session", id, "--fork"}
			}
			return words
		},
	}
}

// HasConversation reports whether the plugin has seen a message of the conversation.
func (Driver) HasConversation(disk fs.FS, logFiles, conversation string) bool {
	_, ok := forks.LogOf(disk, logFiles, conversation)
	return ok
}
