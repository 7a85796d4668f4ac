package claude

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/agent"
)

var _ agent.Launcher = Driver{}

// events are the hook events that are asked for: all of the measured version
// but WorktreeCreate, which replaces what git does, FileChanged, which needs
// files to be named, and MessageDisplay, which runs for every flush of text.
var events = []string{
	"PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "Notification", "UserPromptSubmit", "UserPromptExpansion",
	"SessionStart", "SessionEnd", "Stop", "StopFailure", "SubagentStart", "SubagentStop", "PreCompact", "PostCompact",
	"PermissionRequest", "PermissionDenied", "Setup", "TeammateIdle", "TaskCreated", "TaskCompleted", "Elicitation",
	"ElicitationResult", "ConfigChange", "WorktreeRemove", "InstructionsLoaded", "CwdChanged",
}

// unset are variables by which Claude believes to be in some other terminal,
// which changes what it draws and which keys it asks for.
var unset = []string{"TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TMUX", "TMUX_PANE", "STY", "WT_SESSION", "KITTY_*", "ITERM_*", "ConEmu*", "VSCODE_*", "NO_COLOR"}

// settingsName is the file of Berth's own settings in the session's folder.
const settingsName = "claude-settings.json"

// hookSeconds is how long Claude gives a hook that only tells: it takes some
// milliseconds, and must never hold the agent up for long.
const hookSeconds = 10

// askHold is how long a hook waits for somebody's answer, with a server and
// without one: as long as a dialog is left open over a night.
const askHold = 24 * time.Hour

// asking are the events whose hooks wait for an answer, beside the dialog that
// Claude shows all the while.
var asking = []string{"PermissionRequest"}

// Command is what is run when nobody says otherwise.
func (Driver) Command() []string { return []string{"claude"} }

// Launch adds to the command what makes Claude tell of itself: settings with
// our hooks, which Claude merges with the user's own, and the conversation's
// id unless the command takes up another one.
func (Driver) Launch(s agent.Start) (agent.Launch, error) {
	l := agent.Launch{
		Set:       map[string]string{"CLAUDE_CODE_FORCE_SYNC_OUTPUT": "1"},
		Unset:     unset,
		StateFile: filepath.Join(configDir(s.Env), "sessions", "%d.json"),
	}
	var add []string
	if s.Hook != "" && !given(s.Argv, "--settings") {
		settings, err := settings(s.Hook)
		if err != nil {
			return l, err
		}
		file := filepath.Join(s.Folder, settingsName)
		l.Files = map[string][]byte{file: settings}
		add = append(add, "--settings", file)
	}
	if s.Conversation != "" && !given(s.Argv, "--session-id", "--resume", "-r", "--continue", "-c") {
		l.Conversation = s.Conversation
		option := "--session-id" // which Claude refuses for one that is there
		if s.Resume {
			option = "--resume"
		}
		add = append(add, option, s.Conversation)
	}
	l.Argv = slices.Insert(slices.Clone(s.Argv), 1, add...)
	return l, nil
}

// configDir is where Claude keeps its files.
func configDir(env map[string]string) string {
	if dir := env["CLAUDE_CONFIG_DIR"]; dir != "" {
		return dir
	}
	return filepath.Join(env["HOME"], ".claude")
}

// given says whether the command has one of these options.
func given(argv []string, options ...string) bool {
	for _, word := range argv[1:] {
		name, _, _ := strings.Cut(word, "=")
		if slices.Contains(options, name) {
			return true
		}
	}
	return false
}

type hookCommand struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"` // seconds
}

type hookGroup struct {
	Hooks []hookCommand `json:"hooks"`
}

// settings makes every event run the hook program.
func settings(hook string) ([]byte, error) {
	groups := map[string][]hookGroup{}
	for _, e := range events {
		one := hookCommand{Type: "command", Command: quote(hook) + " hook --tell " + e, Timeout: hookSeconds}
		if slices.Contains(asking, e) {
			hold := strconv.Itoa(int(askHold.Hours())) + "h"
			one.Command = quote(hook) + " hook --ask " + hold + " " + hold + " " + e
			one.Timeout = int(askHold.Seconds())
		}
		groups[e] = []hookGroup{{[]hookCommand{one}}}
	}
	out, err := json.MarshalIndent(map[string]any{"hooks": groups}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the hooks: %w", err)
	}
	return append(out, '\n'), nil
}

// quote makes a path one word for the shell that Claude runs hooks with.
func quote(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }
