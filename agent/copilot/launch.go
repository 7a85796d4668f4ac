package copilot

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

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
const logWritten = "sleep 0.2; "

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
	l.Folders, l.Files = []string{own}, map[string][]byte{}
	l.LogFiles = users + logName
	words := []string{}
	if s.Isolate == agent.IsolateFull {
		home := filepath.Join(own, "home")
		l.Folders, l.Set, l.LogFiles = append(l.Folders, home), map[string]string{homeVariable: home}, home+logName
		signed, err := signIn(s.Disk, filepath.Join(users, configFile))
		if err != nil {
			return l, err
		}
		if err := write(&l, filepath.Join(home, configFile), signed); err != nil {
			return l, err
		}
		if err := write(&l, filepath.Join(home, "settings.json"), userfiles.Merge(nil, s.Settings)); err != nil {
			return l, err
		}
		users = home
	} else if len(s.Settings) > 0 {
		return l, fmt.Errorf("%w: Copilot takes no settings for one session; write them into its own settings.json, or use isolate: full", agent.ErrStart)
	}
	if s.Hook != "" {
		plugin := filepath.Join(own, "plugin")
		l.Folders, words = append(l.Folders, plugin), append(words, "--plugin-dir", plugin)
		if err := write(&l, filepath.Join(plugin, "plugin.json"), map[string]any{"name": "berth", "version": "1.0.0", "hooks": "hooks.json"}); err != nil {
			return l, err
		}
		if err := write(&l, filepath.Join(plugin, "hooks.json"), ours(s)); err != nil {
			return l, err
		}
	}
	if servers := forks.Servers(s.MCP); servers != nil {
		file := filepath.Join(own, "mcp.json")
		words = append(words, "--additional-mcp-config", "@"+file)
		if err := write(&l, file, servers); err != nil {
			return l, err
		}
	}
	talk, err := conversation(&l, s, users)
	l.Argv = slices.Insert(l.Argv, min(1, len(l.Argv)), append(words, talk...)...)
	return l, err
}

func write(l *agent.Launch, file string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode what Copilot is started with: %w", err)
	}
	l.Files[file] = append(data, '\n')
	return nil
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
	signed := map[string]any{}
	data, err := userfiles.ReadSettings(disk, file)
	if errors.Is(err, fs.ErrNotExist) {
		return signed, nil
	}
	if err == nil {
		var all map[string]any
		all, err = userfiles.Object([]byte(commentLine.ReplaceAllString(string(data), "")))
		for _, name := range signInFields {
			if value, ok := all[name]; ok {
				signed[name] = value
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w: read the sign-in in %s: %w", agent.ErrStart, file, err)
	}
	return signed, nil
}

// commentLine matches a line that Copilot writes above the object.
var commentLine = pattern.New(`(?m)^\s*//.*$`)

// ours is the plugin's hooks file.
func ours(s agent.Start) map[string]any {
	all := map[string]any{}
	for _, event := range events {
		command, timeout := hooks.Command(s, event, "Stop")
		if event == "Stop" {
			command = logWritten + command
		}
		all[event] = []any{map[string]any{"type": "command", "command": command, "timeoutSec": int(timeout.Seconds())}}
	}
	return map[string]any{"version": 1, "hooks": all}
}

// homeVariable names the folder that Copilot keeps its files in.
const homeVariable = "COPILOT_HOME"

func usersHome(env map[string]string) string {
	if dir := env[homeVariable]; dir != "" {
		return filepath.Clean(dir)
	}
	return filepath.Join(env["HOME"], ".copilot")
}

// subcommands have no conversation.
var subcommands = []string{
	"app", "login", "help", "init", "config", "update", "version", "workflow", "sessions", "memories", "plugin", "mcp", "skill", "instruction", "lsp",
	"sandbox", "completion", "--help", "-h", "--version", "-v", "--acp",
}

// ways are the options of a command that choose its conversation.
var ways = map[string]string{"--session-id": "value", "--resume": "may", "-r": "may", "--continue": "", "--connect": "may"}

// conversation returns the words that choose the conversation. Copilot has one option for a conversation that is
// there and for a new one.
func conversation(l *agent.Launch, s agent.Start, home string) ([]string, error) {
	words, err := forks.Chats{
		Name: "Copilot", Ways: ways,
		Find:   func(id string) (said, found bool) { said = spoken(s.Disk, home, id); return said, said },
		Latest: func(cwd string) string { return latest(s.Disk, home, cwd) },
	}.Choose(l, s)
	if len(words) > 0 {
		words[0] = "--session-id"
	}
	return words, err
}

// spoken reports whether the home has a message of the conversation.
func spoken(disk fs.FS, home, id string) bool {
	data, err := fs.ReadFile(disk, path.Join(userfiles.Name(home), "session-state", id, "events.jsonl"))
	return err == nil && strings.Contains(string(data), `"type":"user.message"`)
}

// latest is the conversation of a folder that was written last.
func latest(disk fs.FS, home, cwd string) string {
	if disk == nil {
		return ""
	}
	logs, _ := fs.Glob(disk, path.Join(userfiles.Name(home), "session-state", "*", "events.jsonl")) // its only error is a bad pattern
	return forks.Newest(disk, logs, func(log string) string {
		id := path.Base(path.Dir(log))
		data, err := fs.ReadFile(disk, path.Join(path.Dir(log), "workspace.yaml"))
		if err != nil || !strings.Contains("\n"+string(data), "\ncwd: "+cwd+"\n") || !spoken(disk, home, id) {
			return ""
		}
		return id
	})
}

// HasConversation reports whether the conversation has a message.
func (Driver) HasConversation(disk fs.FS, logFiles, conversation string) bool {
	home, ok := strings.CutSuffix(logFiles, logName)
	return ok && forks.UUID.MatchString(conversation) && spoken(disk, home, conversation)
}
