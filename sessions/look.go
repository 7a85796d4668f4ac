package sessions

import (
	"time"

	"berth/agent"
	"berth/detect"
	"berth/terminal"
)

// process is what is known of a session's own program.
type process struct {
	pid     int
	start   string // tells two processes of one pid apart
	shell   bool
	program string // name of the program in the foreground
}

// shell says whether the session's command is an interactive shell.
func (s Spec) shell() bool { return detect.IsShell(s.Command) }

// look asks the system who is in the foreground of the session's terminal and
// judges the state by it.
func (c *core) look(now time.Time) {
	if !c.running() || c.child.pid == 0 {
		return
	}
	if now.Before(c.nextLook()) {
		return
	}
	c.looked = now
	if c.looks > 0 {
		c.looks--
	}
	seen := detect.Process{Running: true, Asked: c.link != nil, Shell: c.child.shell}
	if c.link != nil {
		seen.Leader, seen.Foreground, seen.Program = foreground(c.child.pid)
		seen.Program = terminal.Printable(seen.Program) // any process may call itself anything
	}
	if seen.Program != c.child.program {
		c.child.program, c.dirty = seen.Program, true
	}
	if c.detection != nil && seen.Asked {
		c.seekLog(now)
		c.watchFiles()
		c.readFiles()
		return // its driver judges
	}
	v := detect.FromProcess(seen)
	c.setState(v.State, v.Tier, v.Cause)
}

// nextLook is when to look again.
func (c *core) nextLook() time.Time {
	if c.looks > 0 {
		return c.looked.Add(lookActive)
	}
	// All quiet sessions look at the same time: to wake up costs the server
	// more than to look.
	return c.looked.Add(lookQuiet - time.Duration(c.looked.UnixNano()%int64(lookQuiet)))
}

// Reportable are the states that a session can ever be in by what is known of
// its program.
func Reportable(st *Status) map[agent.State]bool {
	if !st.Driven {
		return detect.Reportable(st.shell())
	}
	all := map[agent.State]bool{}
	for _, s := range agent.States {
		all[s] = true
	}
	return all
}
