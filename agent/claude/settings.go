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

// events are the hook events that Berth sets: all of the measured version except WorktreeCreate,
// which replaces git's own work, FileChanged, which needs names of files, and MessageDisplay, which
// runs for every piece of text.
var events = []string{
	"PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "Notification", "UserPromptSubmit", "UserPromptExpansion",
	"SessionStart", "SessionEnd", "Stop", "StopFailure", "SubagentStart", "SubagentStop", "PreCompact", "PostCompact",
	"PermissionRequest", "PermissionDenied", "Setup", "TeammateIdle", "TaskCreated", "TaskCompleted", "Elicitation",
	"ElicitationResult", "ConfigChange", "WorktreeRemove", "InstructionsLoaded", "CwdChanged",
}

// hookSeconds is Claude's timeout for a hook that only reports. The hook takes some milliseconds,
// and must never delay the agent much.
const hookSeconds = 10

// askHold is how long a hook waits for a person's answer, with and without a server: a dialog may
// stay open overnight.
const askHold = 24 * time.Hour

type hookCommand struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"` // seconds
}

type hookGroup struct {
	Hooks []hookCommand `json:"hooks"`
}

// reporting is the group that makes an event run the hook program, which only reports it.
func reporting(s agent.Start, event string) hookGroup {
	return hookGroup{[]hookCommand{{Type: "command", Command: hooks.Quote(s.Hook) + " hook --tell " + event, Timeout: hookSeconds}}}
}

// ours is the group that makes an event run the hook program. Claude shows a permission's dialog while its hook waits, and a form
// when its hook has ended.
func ours(s agent.Start, event string) hookGroup {
	group := reporting(s, event)
	hook, one := hooks.Quote(s.Hook)+" hook ", &group.Hooks[0]
	switch event {
	case "PermissionRequest", "Elicitation":
		hold := strconv.Itoa(int(askHold.Hours())) + "h"
		one.Command, one.Timeout = hook+"--ask "+hold+" "+hold+" "+event, int(askHold.Seconds())
	case "Stop":
		one.Command, one.Timeout = hook+askWhile(s.EndAsks)+event, int((hooks.Hold + hooks.Slack).Seconds())
	case "PreCompact": // Berth copies the log before Claude continues
		one.Command, one.Timeout = hook+fmt.Sprintf("--ask %s %s ", hooks.Hold, hooks.Grace)+event, int((hooks.Hold + hooks.Slack).Seconds())
	case "SessionStart":
		one.Command, one.Timeout = hook+askWhile(s.StartAsks)+event, int((hooks.Hold + hooks.Slack).Seconds())
	}
	return group
}

// askWhile makes a hook wait for its answer while the file exists.
func askWhile(file string) string {
	return fmt.Sprintf("--ask %s %s --if %s ", hooks.Hold, hooks.Grace, hooks.Quote(file))
}

// reports are permission rules for Berth's report commands. They need no person's permission,
// because a report only adds an event.
func reports(s agent.Start) []any {
	rules := []any{"Bash(berth report:*)"}
	if s.Berth != "" && s.Berth != "berth" {
		rules = append(rules, "Bash("+s.Berth+" report:*)")
	}
	return rules
}

// withOurs appends Berth's hooks to the caller's. A command that prints has no one who answers a form, and goes on without.
func withOurs(callers any, s agent.Start, prints bool) (map[string]any, error) {
	all := map[string]any{}
	if callers != nil {
		given, ok := callers.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%w: settings.hooks isn't a map of events; write hooks: {Stop: [{hooks: [...]}]}", agent.ErrStart)
		}
		maps.Copy(all, given)
	}
	for name, groups := range all {
		if _, ok := groups.([]any); !ok {
			return nil, fmt.Errorf("%w: settings.hooks.%s isn't a list; write %s: [{hooks: [{type: command, command: ...}]}]", agent.ErrStart, name, name)
		}
	}
	for _, e := range events {
		before, _ := all[e].([]any)
		group := ours(s, e)
		if e == "Elicitation" && (prints || len(before) > 0) { // Claude waits for all hooks of a form, so the caller's would wait for a person
			group = reporting(s, e)
		}
		all[e] = append(slices.Clone(before), group)
	}
	return all, nil
}
