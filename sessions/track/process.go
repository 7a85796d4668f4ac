package track

import (
	"time"

	"berth/agent"
	"berth/sessions/process"
	"berth/terminal"
)

// How often the foreground is looked at.
const (
	lookActive         = 50 * time.Millisecond // after output or input
	looksAfterActivity = 3                     // so often
	lookQuiet          = 2 * time.Second       // without
)

// Active notes that something went in or out: the foreground may have changed.
func (t *Track) Active() { t.front.looks = looksAfterActivity }

// LookSoon has the foreground looked at with the next turn of the loop.
func (t *Track) LookSoon() { t.front.looked = time.Time{} }

// ForgetFront forgets which program was in the foreground.
func (t *Track) ForgetFront() { t.front.program = "" }

// Reached takes in that the holder was found. If it had been away, its program went on unseen.
func (t *Track) Reached() {
	t.LookSoon()
	t.Active()
	if d := t.d; d != nil && d.waking.awake {
		d.waking.at = t.env.Now()
	}
}

// look asks the system who is in the foreground of the session's terminal and
// judges the state by it.
func (t *Track) look(now time.Time) {
	if t.env.Exit() != nil || t.env.Child().PID == 0 || now.Before(t.nextLook()) {
		return
	}
	t.front.looked = now
	if t.front.looks > 0 {
		t.front.looks--
	}
	seen := t.inFront()
	switch {
	case t.env.Link() == nil:
		t.SetState(agent.Unknown, agent.TierProcess, "process:no-answer")
	case t.d == nil: // an agent of another version of Berth's
		t.SetState(agent.Unknown, agent.TierProcess, "process:running")
	default:
		t.supervise(seen)
		t.seekLog(now)
		t.watchFiles()
		t.readFiles()
	}
}

// inFront is who is in the foreground of the session's terminal; nothing without
// a holder.
func (t *Track) inFront() agent.Process {
	var seen agent.Process
	if t.env.Link() != nil {
		seen.Leader, seen.Foreground, seen.Program = process.Foreground(t.env.Child().PID)
		seen.Program = terminal.Printable(seen.Program) // any process may call itself anything
	}
	if seen.Program != t.front.program {
		t.front.program = seen.Program
		t.env.Dirty()
	}
	return seen
}

// supervise tells a driver that goes by it who is in the foreground.
func (t *Track) supervise(seen agent.Process) {
	if d, ok := t.d.driver.(agent.ProcessReader); ok {
		t.facts(d.Process(seen))
	}
}

// nextLook is when to look again.
func (t *Track) nextLook() time.Time {
	looked := t.front.looked
	if t.front.looks > 0 {
		return looked.Add(lookActive)
	}
	// All quiet sessions look at the same time: to wake up costs the server
	// more than to look.
	return looked.Add(lookQuiet - time.Duration(looked.UnixNano()%int64(lookQuiet)))
}
