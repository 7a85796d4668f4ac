package copilot

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"berth/agent"
	"berth/agent/forks"
	"berth/agent/hooks"
	"berth/agent/pattern"
	"berth/agent/userfiles"
)

// events are the hooks that Berth sets. Pascal case puts the event's name into the payload. Three are
// left out. Copilot refuses a tool when a PreToolUse hook fails, and runs PermissionRequest also for
// what a rule allows. PostToolUse says no more than the session log.
var events = []string{"SessionStart", "SessionEnd", "UserPromptSubmit", "Stop", "ErrorOccurred", "PreCompact", "Notification"}

// logWritten delays the report of a turn's end. Copilot writes its log in batches, 0.11 s after their first
// line, and the last batch has the turn's last message.
var logWritten = map[string]string{"Stop": "sleep 0.2; "}

// Command is the default command.
func (Driver) Command() []string { return []string{"copilot"} }

// logName is the path of a conversation's log below Copilot's home.
const logName = "/*/%s/events.jsonl"

// Launch gives Copilot its hooks as a plugin in the session's folder, so that no file of the user's
// changes, and the id of its conversation. Only a full isolation has a home of its own.
func (Driver) Launch(s agent.Start) (agent.Launch, error) {
	l, follows := forks.Begin(s, subcommands, nil)
	if !follows {
		return l, nil
	}
	users, own := usersHome(s.Env), filepath.Join(s.Folder, Name)
	l.Folders = []string{own}
	l.LogFiles = users + logName
	var words []string
	files := map[string]any{}
	if s.Isolate == agent.IsolateFull {
		home := filepath.Join(own, "home")
		l.Folders, l.Set, l.LogFiles = append(l.Folders, home), map[string]string{homeVariable: home}, home+logName
		signed, err := signIn(s.Disk, filepath.Join(users, configFile))
		if err != nil {
			return l, err
		}
		files[filepath.Join(home, configFile)] = signed
		files[filepath.Join(home, "settings.json")] = userfiles.Merge(nil, s.Settings)
		users = home
	} else if len(s.Settings) > 0 {
		return l, fmt.Errorf("%w: Copilot takes no settings for one session; write them into its own settings.json, or use isolate: full", agent.ErrStart)
	}
	if s.Hook != "" {
		plugin := filepath.Join(own, "plugin")
		l.Folders, words = append(l.Folders, plugin), append(words, "--plugin-dir", plugin)
		files[filepath.Join(plugin, "plugin.json")] = map[string]any{"name": "berth", "version": "1.0.0", "hooks": "hooks.json"}
		files[filepath.Join(plugin, "hooks.json")] = pluginHooks(s)
	}
	if servers := forks.Servers(s.MCP); servers != nil {
		file := filepath.Join(own, "mcp.json")
		words, files[file] = append(words, "--additional-mcp-config", "@"+file), servers
	}
	if err := forks.Write(&l, files); err != nil {
		return l, err
	}
	return l, conversations(s.Disk, users).Choose(&l, s, words...)
}

// configFile is the file in Copilot's home that it writes itself: who is signed in, which folders are
// trusted, and what it has shown.
const configFile = "config.json"

// signInFields are the fields of the sign-in, as earlier versions and this one spell them.
var signInFields = []string{
	"copilotTokens", "loggedInUsers", "lastLoggedInUser", "copilot_tokens", "logged_in_users", "last_logged_in_user",
}

// signIn has the fields of the user's file that sign Copilot in; none without the file. Copilot remembers
// trusted folders in that file, so a session with a home of its own has its own copy.
func signIn(disk fs.FS, file string) (map[string]any, error) {
	all, err := userfiles.ReadObject(disk, file, commentLine)
	if err != nil {
		return nil, fmt.Errorf("%w: read the sign-in in %s: %w", agent.ErrStart, file, err)
	}
	maps.DeleteFunc(all, func(name string, _ any) bool { return !slices.Contains(signInFields, name) })
	return all, nil
}

// commentLine matches a line that Copilot writes above the object.
var commentLine = pattern.New(`(?m)^\s*//.*$`)

// ours are Berth's hooks. Copilot has them without groups, and its timeouts are in seconds.
var ours = forks.Hooks{Events: events, End: "Stop", Group: func(command string, timeout time.Duration) any {
	return map[string]any{"type": "command", "command": command, "timeoutSec": int(timeout.Seconds())}
}}

// pluginHooks is the plugin's hooks file.
func pluginHooks(s agent.Start) map[string]any {
	all := map[string]any{}
	for _, event := range events {
		command, timeout := hooks.Command(s, event, ours.End)
		all[event] = []any{ours.Group(logWritten[event]+command, timeout)}
	}
	return map[string]any{"version": 1, "hooks": all}
}

// Running has Copilot's session logs.
func (Driver) Running(argv []string, env map[string]string) (agent.Running, bool) {
	return forks.Running(argv, subcommands, env, func(env map[string]string) string { return usersHome(env) + logName })
}

// UserHooks are all of Berth's hooks, in a file of their own among the user's. They only report.
func (Driver) UserHooks(u agent.UserSettings) ([]agent.UserFile, error) {
	return ours.InUsers(u, filepath.Join(usersHome(u.Env), "hooks", "berth.json"), `{"version":1}`)
}

// homeVariable names the folder that Copilot keeps its files in.
const homeVariable = "COPILOT_HOME"

func usersHome(env map[string]string) string { return userfiles.Home(env, homeVariable, ".copilot") }

// subcommands have no conversation.
var subcommands = []string{
	"app", "login", "help", "init", "config", "update", "version", "workflow", "sessions", "memories", "plugin", "mcp", "skill", "instruction", "lsp",
	"sandbox", "completion", "--help", "-h", "--version", "-v", "--acp",
}

// ways are the options of a command that choose its conversation.
var ways = map[string]string{"--session-id": "value", "--resume": "may", "-r": "may", "--continue": "", "--connect": "may"}

// conversations are those of a home: session-state/ID/events.jsonl, with the folder in workspace.yaml beside it. One
// without a message doesn't count. Copilot has one option for a conversation that is there and for a new one.
func conversations(disk fs.FS, home string) forks.Chats {
	files := func(id string) []string { return []string{filepath.Join(home, "session-state", id, "events.jsonl")} }
	return forks.Chats{
		Name: "Copilot", Ways: ways, Resumes: "--session-id", Disk: disk, Of: files,
		In: func(cwd string) (all []string) {
			of := func(yaml string) bool { return strings.Contains("\n"+yaml, "\ncwd: "+cwd+"\n") }
			for _, folder := range forks.FoldersWith(disk, filepath.Join(home, "session-state", "*", "workspace.yaml"), of) {
				all = append(all, files(path.Base(folder))...)
			}
			return all
		},
		Read: func(file string, data []byte) (string, bool) {
			if !strings.Contains(string(data), `"type":"user.message"`) {
				return "", false
			}
			return path.Base(path.Dir(file)), true
		},
	}
}

// HasConversation reports whether the conversation has a message.
func (Driver) HasConversation(disk fs.FS, logFiles, conversation string) bool {
	home, ok := strings.CutSuffix(logFiles, logName)
	return ok && conversations(disk, home).Has(conversation)
}
