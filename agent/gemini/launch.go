package gemini

import (
	"path/filepath"
	"time"

	"berth/agent"
	"berth/agent/forks"
	"berth/agent/hooks"
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
	l.LogFiles = logFiles(h.users)
	l.Default = map[string]string{"GEMINI_CLI_NO_RELAUNCH": "true"}
	if s.Trust {
		l.Default["GEMINI_CLI_TRUST_WORKSPACE"] = "true"
	}
	if s.Isolate == agent.IsolateFull || s.Hook != "" || len(s.Settings) > 0 || len(s.MCP) > 0 {
		l.Set = map[string]string{homeVariable: h.own}
		l.LogFiles = logFiles(h.own)
		if err := h.make(&l, s); err != nil {
			return l, err
		}
	}
	return l, h.conversations().Choose(&l, s)
}

// subcommands have no conversation.
var subcommands = []string{"mcp", "extensions", "extension", "skills", "skill", "hooks", "hook"}

// readable turns off what keeps Berth from reading the screen: the banner shows that Gemini has started
// up, and the alternate screen scrolls a part of a dialog out of view.
func readable(all map[string]any) map[string]any {
	ui, _ := all["ui"].(map[string]any) // of another kind Gemini reads nothing
	off := map[string]any{}
	for _, name := range []string{"hideBanner", "useAlternateBuffer"} {
		if ui[name] == true {
			off[name] = false
		}
	}
	if len(off) == 0 {
		return nil
	}
	return map[string]any{"ui": off}
}

// ours are Berth's hooks. Gemini's timeouts are in milliseconds.
var ours = forks.Hooks{
	Events: events, End: "AfterAgent", Readable: readable,
	Group: func(command string, timeout time.Duration) any { return group(command, timeout, false) },
	Answers: map[string]func(s agent.Start) []any{"BeforeTool": func(s agent.Start) []any {
		command, timeout := hooks.Command(s, "BeforeTool", "")
		return []any{group(command, timeout, true)}
	}},
}

// group has one hook. inTurn: Gemini runs all hooks of that event one after the other, and each has the call's input as the hooks before it
// changed it. Berth's is after the user's own.
func group(command string, timeout time.Duration, inTurn bool) any {
	hook := map[string]any{"type": "command", "name": "berth", "command": command, "timeout": timeout.Milliseconds()}
	all := map[string]any{"hooks": []any{hook}}
	if inTurn {
		all["sequential"] = true
	}
	return all
}
