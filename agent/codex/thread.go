package codex

import (
	"slices"
	"strings"

	"berth/agent"
	"berth/agent/pattern"
)

// mainThread is the end of the footer's first row while the main thread is open and there are others.
const mainThread = " · Main [default]"

// threadName matches the end of that row while any of several threads is open: a subagent's name and its kind. The row's
// other parts are before it.
var threadName = pattern.New(` · [^·]+ \[[^\]]+\]$`)

// openThread is the thread that the footer names.
func openThread(footer string) agent.Thread {
	row, _, _ := strings.Cut(footer, "\n")
	switch {
	case strings.HasSuffix(row, mainThread):
		return agent.ThreadMain
	case threadName.MatchString(row):
		return agent.ThreadOther
	}
	return ""
}

// InThread reports whether the dialog names its thread, which isn't the open one.
func (Driver) InThread(d *agent.Dialog) bool {
	_, in := ofCall(strings.Split(d.Body, "\n"))
	return in
}

// Opened says that neither the shell nor the folder is known of a command in a subagent's thread: no log that is read has its call.
func (Driver) Opened(p *agent.Request) string {
	lines := strings.Split(agent.Value(p.Text), "\n")
	says := func(any ...string) bool {
		return slices.ContainsFunc(any, func(line string) bool { return slices.Contains(lines, line) })
	}
	if agent.Value(p.Tool) != toolCommand || says(anyShell, noShell) && says(noFolder, hookFolder) {
		return ""
	}
	return "in a thread that was opened at the terminal. Then neither its shell nor its folder is known here."
}
