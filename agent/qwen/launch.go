package qwen

import (
	"cmp"
	"fmt"
	"path/filepath"
	"time"

	"berth/agent"
	"berth/agent/forks"
	"berth/agent/hooks"
	"berth/agent/userfiles"
)

// Variables of Qwen Code.
const (
	homeVariable     = "QWEN_HOME" // the folder of the user's files, instead of ~/.qwen
	systemVariable   = "QWEN_CODE_SYSTEM_SETTINGS_PATH"
	defaultsVariable = "QWEN_CODE_SYSTEM_DEFAULTS_PATH"
)

// systemSettings is the machine's settings file on Linux, and defaultsName the file beside it that Qwen
// Code looks for.
const (
	systemSettings = "/etc/qwen-code/settings.json"
	defaultsName   = "system-defaults.json"
)

// shared are the files of a login. A session's own home has them too.
var shared = []string{"oauth_creds.json"}

// ofSessions are variables that name another session of Qwen Code's.
var ofSessions = []string{"QWEN_CODE", "QWEN_CODE_SESSION_ID", "QWEN_CODE_PROJECT_DIR", "QWEN_CODE_CLI", "QWEN_PROJECT_DIR"}

// events are the hooks that Berth sets. MessageDisplay is left out: Qwen Code runs it at every piece of
// an answer.
var events = []string{
	"SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "PermissionDenied",
	"Stop", "StopFailure", "SubagentStart", "SubagentStop", "PreCompact", "PostCompact", "Notification", permissionEvent,
}

// permissionEvent is the hook that can answer a dialog.
const permissionEvent = "PermissionRequest"

const (
	// askHold is how long the hook of a permission waits for a person's answer. While it waits Qwen
	// Code shows no dialog.
	askHold = 590 * time.Second
	// askGrace is how long the hook waits for a missing server. No client can answer then, so the
	// dialog must come.
	askGrace = time.Second
)

// ways are the options of a command that choose its conversation.
var ways = map[string]string{"--session-id": "value", "--resume": "may", "-r": "may", "--continue": "", "-c": "", "--fork-session": ""}

// Command is the default command.
func (Driver) Command() []string { return []string{"qwen"} }

// Launch gives Qwen Code a file of system settings: the machine's own, the session's, and Berth's hooks
// after all others. Qwen Code joins the hooks of all its settings, so the user's files stay as they are.
func (Driver) Launch(s agent.Start) (agent.Launch, error) {
	l, follows := forks.Begin(s, subcommands, ofSessions)
	if !follows {
		return l, nil
	}
	files := usersFiles(s.Env)
	own := filepath.Join(s.Folder, Name)
	l.Set = map[string]string{}
	if s.Isolate == agent.IsolateFull {
		l.Folders, l.Links = []string{own}, forks.Links(own, files, shared)
		files, l.Set[homeVariable] = own, own
	}
	if s.Isolate == agent.IsolateFull || s.Hook != "" || len(s.Settings) > 0 || len(s.MCP) > 0 {
		machines := cmp.Or(s.Env[systemVariable], systemSettings)
		all, err := ours.Settings(s, machines, "OPENAI_API_KEY", "openai")
		if err != nil {
			return l, err
		}
		file := filepath.Join(own, "settings.json")
		if s.Isolate == agent.IsolateFull { // the home has a file of that name
			file = filepath.Join(own, "system", "settings.json")
		}
		l.Folders = append(l.Folders, filepath.Dir(file))
		if err := forks.Write(&l, map[string]any{file: all}); err != nil {
			return l, err
		}
		l.Set[systemVariable] = file
		if s.Env[defaultsVariable] == "" {
			l.Set[defaultsVariable] = filepath.Join(filepath.Dir(machines), defaultsName)
		}
	}
	l.LogFiles = logFiles(files)
	return l, conversations(s.Disk, files).Choose(&l, s)
}

func usersFiles(env map[string]string) string { return userfiles.Home(env, homeVariable, ".qwen") }

// subcommands have no conversation.
var subcommands = []string{"auth", "board", "channel", "extensions", "hooks", "mcp", "review", "sandbox", "serve", "sessions", "update"}

// readable is what Berth needs to read the screen and the title, and to type: the language of the
// dialogs, the title's marks, and no suggested message, which an Enter in an empty composer would send.
// Qwen Code adds itself to the message of a commit or a pull request after the hook of the command. That can
// end a quoted text, and a comment in the command becomes a part of it: so it adds nothing.
var readable = map[string]any{
	"general": map[string]any{"language": "en", "gitCoAuthor": map[string]any{"commit": false, "pr": false}},
	"ui":      map[string]any{"hideWindowTitle": false, "showStatusInTitle": true, "enableFollowupSuggestions": false},
}

// Tools whose dialog takes more than yes or no: their hook only reports.
const (
	byDialog = "^(ask_user_question|exit_plan_mode)$"
	byHook   = "^(?!(ask_user_question|exit_plan_mode)$)"
)

// ours are Berth's hooks.
var ours = forks.Hooks{
	Events: events, End: "Stop", Readable: func(map[string]any) map[string]any { return readable },
	Group:   func(command string, timeout time.Duration) any { return group("", command, timeout) },
	Answers: map[string]func(agent.Start) []any{permissionEvent: answering},
}

// group is a hook of the tools that the matcher matches.
func group(matcher, command string, timeout time.Duration) map[string]any {
	one := map[string]any{"hooks": []any{map[string]any{"type": "command", "name": "berth", "command": command, "timeout": int(timeout.Seconds())}}}
	if matcher != "" {
		one["matcher"] = matcher
	}
	return one
}

// answering are the hooks of a permission, which can ask unless its dialog takes more than yes or no.
func answering(s agent.Start) []any {
	command, timeout := hooks.Command(s, permissionEvent, "")
	ask := fmt.Sprintf("%s hook --ask %s %s %s", hooks.Quote(s.Hook), askHold, askGrace, permissionEvent)
	return []any{group(byDialog, command, timeout), group(byHook, ask, askHold+10*time.Second)}
}
