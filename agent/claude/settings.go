package claude

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/agent"
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

// asking are the events whose hooks wait for an answer, beside the dialog that
// Claude shows all the while.
var asking = []string{"PermissionRequest"}

type hookCommand struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"` // seconds
}

type hookGroup struct {
	Hooks []hookCommand `json:"hooks"`
}

// ours is the group that makes an event run the hook program.
func ours(hook, event string) hookGroup {
	one := hookCommand{Type: "command", Command: quote(hook) + " hook --tell " + event, Timeout: hookSeconds}
	if slices.Contains(asking, event) {
		hold := strconv.Itoa(int(askHold.Hours())) + "h"
		one.Command = quote(hook) + " hook --ask " + hold + " " + hold + " " + event
		one.Timeout = int(askHold.Seconds())
	}
	return hookGroup{[]hookCommand{one}}
}

// withOurs puts our hooks behind the caller's.
func withOurs(callers any, hook string) (map[string]any, error) {
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
		all[e] = append(slices.Clone(before), ours(hook, e))
	}
	return all, nil
}

// merge lays settings over others: groups are merged, lists joined, those
// below first, and of anything else the upper holds. Neither is changed.
func merge(below, above map[string]any) map[string]any {
	all := map[string]any{}
	maps.Copy(all, below)
	for name, value := range above {
		switch value := value.(type) {
		case map[string]any:
			if old, ok := all[name].(map[string]any); ok {
				all[name] = merge(old, value)
				continue
			}
		case []any:
			if old, ok := all[name].([]any); ok {
				all[name] = slices.Concat(old, value)
				continue
			}
		}
		all[name] = value
	}
	return all
}

// quote makes a path one word for the shell that Claude runs hooks with.
func quote(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }
