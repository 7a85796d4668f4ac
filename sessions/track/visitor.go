package track

import (
	"time"

	"berth/agent"
	"berth/api"
	"berth/sessions/process"
	"berth/terminal"
)

// Visitor is an agent that runs in the foreground of a session whose own program is a shell, or another program
// that has no driver. While it does, its driver follows it. Its name is only a claim of a process of the session.
type Visitor struct {
	Agent string   `json:"agent"`
	Group int      `json:"group"` // the foreground process group of the session's terminal
	PID   int      `json:"pid"`
	Start string   `json:"start"` // in clock ticks since boot
	Since api.Time `json:"since"` // when it was first seen

	// StateFile and LogFiles are as in agent.Launch; empty if the agent has none, or if another user runs it.
	StateFile string `json:"state_file,omitempty"`
	LogFiles  string `json:"log_files,omitempty"`
}

// is reports whether both are the same process, started once.
func (g *Visitor) is(o *Visitor) bool {
	return g != nil && o != nil && g.PID == o.PID && g.Start == o.Start
}

// present reports whether the visitor is still in the foreground of the session's terminal.
func (g *Visitor) present(seen agent.Process) bool {
	return seen.Foreground == g.Group && process.InFront(g.PID, g.Start)
}

// visitorEvent is the data of an event agent: another agent is followed from now on.
type visitorEvent struct {
	Agent    string  `json:"agent"`
	Attached *string `json:"attached"` // foreground: a person started it in the session's shell; null: the session's own program
	PID      int     `json:"pid"`
}

// causeForeground is the cause of what follows from a change of the foreground.
const causeForeground = "process:foreground"

// AttachedForeground says that the followed agent is a visitor.
const AttachedForeground = "foreground"

const (
	// visitorSoon is how long after a change of the foreground group each poll searches for an agent: a wrapper needs
	// some time to start it. visitorEvery is the least time between two searches after that.
	visitorSoon  = time.Second
	visitorEvery = 250 * time.Millisecond
	// visitorStarts is how long a visitor may be a program that only starts the agent itself, as npm's packages do.
	visitorStarts = 5 * time.Second
	// shellSays is how long after an agent's start a title may still be the shell's, which sets it to the
	// name of the command.
	shellSays = 30 * time.Millisecond
)

// visitors is what a track knows of the agents in the session's shell.
type visitors struct {
	now      *Visitor  // nil: the session's own program is followed
	last     *Visitor  // the visitor before
	ready    bool      // it had started up
	group    int       // the foreground group of the last search
	groupAt  time.Time // when that was first seen
	searched time.Time
	hooked   time.Time          // the last search before a hook's event
	recent   []notice           // what was printed while no agent was followed
	before   *terminal.Snapshot // the screen at the last poll that found none
}

// notice is a title or a sequence that was printed.
type notice struct {
	osc  int // 0 for a title
	text string
	at   time.Time
}

// noticesKept bounds the notices that are kept for a visitor that starts.
const noticesKept = 16

// keep keeps a notice for an agent that may be starting.
func (g *visitors) keep(osc int, text string, at time.Time) {
	if g.now != nil {
		return
	}
	if g.recent = append(g.recent, notice{osc, text, at}); len(g.recent) > noticesKept {
		g.recent = append([]notice(nil), g.recent[len(g.recent)-noticesKept:]...)
	}
}
