package codex

import (
	"slices"
	"strings"

	"berth/agent"
	"berth/agent/pattern"
)

// mainThread is the end of the footer's status while the main thread is open and there are others.
const mainThread = " · Main [default]"

// threadName matches that end while any of several threads is open: a subagent's name and its kind. The status has the
// conversation's title before it, which the model chooses.
var threadName = pattern.New(` · [^·]+ \[[^\]]+\]$`)

// inSide is in the row of hints below the status while a side conversation is open.
const inSide = " · Side from "

// openThread is the thread that the footer names. A narrow screen breaks the status into several rows.
func openThread(footer []string) agent.Thread {
	last := len(footer) - 1
	if last >= 0 && strings.Contains(footer[last], inSide) {
		return agent.ThreadOther
	}
	if last >= 0 && !strings.HasSuffix(footer[last], "]") { // the hints
		footer = footer[:last]
	}
	status := strings.Join(footer, " ")
	switch {
	case strings.HasSuffix(status, mainThread):
		return agent.ThreadMain
	case threadName.MatchString(status):
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
