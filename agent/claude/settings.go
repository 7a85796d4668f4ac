package claude

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"berth/agent"
	"berth/agent/hooks"
)

// events are the hook events that are asked for: all of the measured version
// but WorktreeCreate, which replaces what git does, FileChanged, which needs
// files to be named, and MessageDisplay, which runs for every flush of text.
var events = []string{
	"PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "Notification", "UserPromptSubmit", "UserPromptExpansion",
	"SessionStart", "SessionEnd", "Stop", "StopFailure", "SubagentStart", "SubagentStop", "PreCompact", "PostCompact",
	"PermissionRequest", "PermissionDenied", "Setup", "TeammateIdle", "TaskCreated", "TaskCompleted", "Elicitation",
	"ElicitationResult", "ConfigChange", "WorktreeRemove", "InstructionsLoaded", "CwdChanged",
}

// hookSeconds is how long Claude gives a hook that only tells: it takes some
// milliseconds, and must never hold the agent up for long.
const hookSeconds = 10

// askHold is how long a hook waits for somebody's answer, with a server and
// without one: as long as a dialog is left open over a night.
const askHold = 24 * time.Hour

type hookCommand struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"` // seconds
}

type hookGroup struct {
	Hooks []hookCommand `json:"hooks"`
}

// ours is the group that makes an event run the hook program.
func ours(s agent.Start, event string) hookGroup {
	hook := hooks.Quote(s.Hook) + " hook "
	one := hookCommand{Type: "command", Command: hook + "--tell " + event, Timeout: hookSeconds}
	switch event {
	case "PermissionRequest": // beside the dialog, which Claude shows all the while
		hold := strconv.Itoa(int(askHold.Hours())) + "h"
		one.Command, one.Timeout = hook+"--ask "+hold+" "+hold+" "+event, int(askHold.Seconds())
	case "Stop":
		one.Command, one.Timeout = hook+askWhile(s.EndAsks)+event, int((hooks.Hold + hooks.Slack).Seconds())
	case "PreCompact": // the log so far is copied before it goes on
		one.Command, one.Timeout = hook+fmt.Sprintf("--ask %s %s ", hooks.Hold, hooks.Grace)+event, int((hooks.Hold + hooks.Slack).Seconds())
	case "SessionStart":
		one.Command, one.Timeout = hook+askWhile(s.BeginAsks)+event, int((hooks.Hold + hooks.Slack).Seconds())
	}
	return hookGroup{[]hookCommand{one}}
}

// askWhile makes a hook wait for its answer while the file is there.
func askWhile(file string) string {
	return fmt.Sprintf("--ask %s %s --if %s ", hooks.Hold, hooks.Grace, hooks.Quote(file))
}

// reports are the rules by which a report needs nobody's permission: it makes
// an event and no more.
func reports(s agent.Start) []any {
	rules := []any{"Bash(berth report:*)"}
	if s.Berth != "" && s.Berth != "berth" {
		rules = append(rules, "Bash("+s.Berth+" report:*)")
	}
	return rules
}

// withOurs puts our hooks behind the caller's.
func withOurs(callers any, s agent.Start) (map[string]any, error) {
	all := map[string]any{}
	if callers != nil {
		given, ok := callers.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%w: hooks of the settings is no group of events; write hooks: {Stop: [{hooks: [...]}]}", agent.ErrStart)
		}
		maps.Copy(all, given)
	}
	for name, groups := range all {
		if _, ok := groups.([]any); !ok {
			return nil, fmt.Errorf("%w: hooks.%s of the settings is no list; write %s: [{hooks: [{type: command, command: ...}]}]", agent.ErrStart, name, name)
		}
	}
	for _, e := range events {
		before, _ := all[e].([]any)
		all[e] = append(slices.Clone(before), ours(s, e))
	}
	return all, nil
}
