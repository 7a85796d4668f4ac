package sessions

import (
	"time"

	"berth/agent"
	"berth/sessions/process"
	"berth/terminal"
)

// child is what is known of a session's own program.
type child struct {
	pid     int
	start   string // tells two processes of one pid apart
	program string // name of the program in the foreground
}

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
	seen := c.inFront()
	switch {
	case c.link == nil:
		c.setState(agent.Unknown, agent.TierProcess, "process:no-answer")
	case c.detection == nil: // an agent of another version of Berth's
		c.setState(agent.Unknown, agent.TierProcess, "process:running")
	default:
		c.supervise(seen)
		c.seekLog(now)
		c.watchFiles()
		c.readFiles()
	}
}

// inFront is who is in the foreground of the session's terminal; nothing without
// a holder.
func (c *core) inFront() agent.Process {
	var seen agent.Process
	if c.link != nil {
		seen.Leader, seen.Foreground, seen.Program = process.Foreground(c.child.pid)
		seen.Program = terminal.Printable(seen.Program) // any process may call itself anything
	}
	if seen.Program != c.child.program {
		c.child.program, c.dirty = seen.Program, true
	}
	return seen
}

// supervise tells a driver that goes by it who is in the foreground.
func (c *core) supervise(seen agent.Process) {
	if d, ok := c.detection.driver.(agent.ProcessReader); ok {
		c.facts(d.Process(seen))
	}
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
	can := map[agent.State]bool{agent.Unknown: true, agent.Exited: true, agent.Starting: true, agent.Restarting: true}
	for _, state := range st.Tells {
		can[state] = true
	}
	return can
}

// tells are the states that the driver can tell of its program: all of them,
// once a program of which little is known has told of itself.
func (c *core) tells(driver agent.Driver) []agent.State {
	limited, ok := driver.(agent.LimitedStates)
	switch {
	case driver == nil:
		return nil
	case !ok, c.detection != nil && c.detection.fold.Told():
		return agent.States
	}
	return limited.ReportedStates()
}
