package track

import (
	"time"

	"berth/agent"
	"berth/sessions/process"
	"berth/terminal"
)

// How often the foreground process is polled.
const (
	lookActive = 50 * time.Millisecond // after output or input
	lookQuiet  = 2 * time.Second       // without output and input
	// Number of the polls that are lookActive apart. A busy machine may need 100 ms to start the program that was
	// asked for. A shell has taken its terminal back before it prints: the second poll is for the program that it
	// starts next.
	looksAfterInput  = 3
	looksAfterOutput = 2
)

// Active records input, or that the session was unseen: the foreground process may have changed.
func (t *Track) Active() { t.front.looks = looksAfterInput }

// LookSoon polls the foreground at the loop's next turn.
func (t *Track) LookSoon() { t.front.looked = time.Time{} }

// ForgetFront forgets which program was in the foreground.
func (t *Track) ForgetFront() { t.front.program = "" }

// Reached records that the holder was found. Meanwhile its program went on unseen.
func (t *Track) Reached() {
	t.LookSoon()
	t.Active()
	if d := t.d; d != nil && d.waking.live {
		d.waking.at = t.env.Now()
	}
}

// inFront is the foreground process of the session's terminal; the zero value without a holder.
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

// supervise passes the foreground process to a driver that uses it.
func (t *Track) supervise(seen agent.Process) {
	if d, ok := t.d.driver.(agent.ProcessReader); ok {
		t.facts(d.Process(seen))
	}
}

// nextLook is the time of the next poll.
func (t *Track) nextLook() time.Time {
	looked := t.front.looked
	if t.front.looks > 0 {
		return looked.Add(lookActive)
	}
	// All quiet sessions poll at the same time, because waking up costs the server more than a poll.
	return looked.Add(lookQuiet - time.Duration(looked.UnixNano()%int64(lookQuiet)))
}
