// Package life is the part of a session that starts and ends its program: which holder and program
// there are, how the program ended, automatic restarts, and the limits of its time.
//
// A program starts and ends by control records (Record). Calls only ask for that: End asks the
// holder, Restart ends the program and starts it again, and Tick does it when a restart is due or a
// limit is over. Callers wait on a channel, because the loop waits for no program. One start runs at
// a time, in the background (Env.Launch); an end that is asked for meanwhile follows the start.
//
// A link to the holder can break, and a holder can be killed. Tick then finds the holder again. If
// the holder is gone and left no exit, the program is lost.
//
// The next server gets the program, its holder and its end from the checkpoint (Save, Restore), and
// an end without a control record from the event log (Recall).
package life

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"berth/agent"
	"berth/api"
	"berth/sessions/events"
	"berth/sessions/hold"
	"berth/sessions/loop"
)

// EndGrace is the time between HUP and KILL when a session is ended.
const EndGrace = 10 * time.Second

// VerbRestart is the verb in the mark of an end that a new start follows.
const VerbRestart = "restart"

// Env is what the life uses of its session.
type Env struct {
	loop.Env
	Spec func() Spec
	// State is the session's state, and SetState sets it by what is known of the program.
	State    func() agent.State
	SetState func(state agent.State, cause string)
	// Used is when the program was last written to or printed.
	Used func() time.Time

	// Event writes an event that a control record caused, unless Written says that it has one.
	Event   func(r hold.Record, kind string, data any)
	Written func(record uint64) bool
	// Save writes a checkpoint. Changed has the status published at the end of this turn of the
	// loop, and Publish publishes it now.
	Save, Changed, Publish func()

	// Dial finds the holder and has the journal read from it. Linked says that there is a link to a
	// holder, and LinkErr why that has ended. Unlink lets go of it. Replay reads the journal to its
	// end without a holder.
	Dial           func(ctx context.Context) (hold.Welcome, error)
	Linked         func() bool
	LinkErr        func() error
	Unlink, Replay func()
	// Found takes in what a holder says of its program, and Reached that an older holder was found again.
	Found   func(hold.Welcome)
	Reached func(hold.Welcome)

	// Load makes the emulator for a program that is about to start. Launch starts a holder in the
	// background, and calls Launched. What is left of a lost program ends first.
	Load   func()
	Launch func(lost bool)
	// EndProgram gives a function that asks the present holder for the end. EndOrphans ends what is left
	// of a lost program. Both take time, and run in the background.
	EndProgram func(mark loop.Mark, grace time.Duration) (ask func() error)
	EndOrphans func(grace time.Duration) error

	// Begin begins anew with a program that has just started, and Created is the data of its event.
	Begin   func(at time.Time, first bool, d hold.StartedData)
	Created func(first bool, d hold.StartedData) any
	// End takes in that the program has ended, and gives its last lines if it was never ready. Ended
	// follows when the state and the checkpoint have the end.
	End   func(written bool) (last []string)
	Ended func()
}

// Spec is what a session's spec says of its program's life.
type Spec struct {
	Restart Restart
	Again   []int // exit codes of a program that asks to be started once more
	TTL     time.Duration
	Ends    time.Time // zero: never
	Idle    time.Duration
}

// Life is the life of one session's programs.
type Life struct {
	env         Env
	child       Child
	holderPID   int
	holderStart string
	dialed      time.Time // when the holder was last asked for
	started     time.Time
	starting    bool // a holder is being started
	exit        *api.Exit
	lost        *api.Exit  // an end without a record, as an event has it
	ending      bool       // a caller asked for the end: no automatic restart
	endedBy     loop.By    // that caller
	again       bool       // a caller asked for a new start after the end
	endSoon     *loop.Mark // the end that a caller asked for while a holder was being started
	restarts    restarts
	ends        []chan error // callers who wait for the program's end
	begins      []chan error // callers who wait for its start
	removing    int          // callers who delete the folder: no program is started
}

// Child is the session's own program.
type Child struct {
	PID   int
	Start string // its start time, because another process may get the same pid later
}

// New is the life of a session whose program has not started yet.
func New(env Env) *Life { return &Life{env: env} }

// Exit is the program's end; nil while it runs.
func (l *Life) Exit() *api.Exit { return l.exit }

// Starting says that the program is being started.
func (l *Life) Starting() bool { return l.starting }

// Child is the program that runs, or ran last.
func (l *Life) Child() Child { return l.child }

// Holder is the process that holds the program.
func (l *Life) Holder() (pid int, start string) { return l.holderPID, l.holderStart }

// Started is when the program started.
func (l *Life) Started() time.Time { return l.started }

// Due is when the program is started again by itself; zero when no start is planned.
func (l *Life) Due() time.Time { return l.restarts.at }

// Ending says that a caller asked for the end.
func (l *Life) Ending() bool { return l.ending }

// EndedBy is the caller who asked for the program's end; empty without.
func (l *Life) EndedBy() loop.By { return l.endedBy }

// Over says that the program has ended and none is being started.
func (l *Life) Over() bool { return l.exit != nil && !l.starting }

// GoesOn says that the program runs, or ended to be started once more.
func (l *Life) GoesOn() bool { return l.exit == nil || l.onceMore() }

// Begin has nothing to do: the life itself begins the other parts.
func (l *Life) Begin(time.Time) {}

// End has nothing to do: the life itself ends the other parts.
func (l *Life) End() {}

// Record takes in that a program has started or ended, or is to end.
func (l *Life) Record(r hold.Record) (none loop.Outcome, err error) {
	switch r.Kind {
	case hold.KindStarted:
		err = l.startedRecord(r)
	case hold.KindEnd:
		err = l.endRecord(r)
	case hold.KindOOM:
		err = l.oomRecord(r)
	case hold.KindExit:
		err = l.exitRecord(r)
	}
	return none, err
}

// Tick looks after the link to the holder, and starts or ends the program when that is due.
func (l *Life) Tick(now time.Time) (next time.Time) {
	l.reconnect(now)
	l.judgeEnd(now)
	l.limits(now)
	next, _ = l.limitsDue()
	if at, ok := l.restarts.due(); ok && !l.starting && (next.IsZero() || at.Before(next)) {
		next = at
	}
	return next
}

// Close has all callers stop waiting, for that reason.
func (l *Life) Close(why error) {
	l.endsDone(why)
	l.begun(why)
}

// saved is what the next server has to know.
type saved struct {
	Exit        *api.Exit `json:"exit"`
	Ending      bool      `json:"ending"`
	EndedBy     loop.By   `json:"ended_by"`
	HolderPID   int       `json:"holder_pid"`
	HolderStart string    `json:"holder_start"`
	PID         int       `json:"pid"`
	Start       string    `json:"start"`
	Started     api.Time  `json:"started"`
}

// Save gives the program, its holder and its end.
func (l *Life) Save() (json.RawMessage, error) {
	return json.Marshal(saved{
		Exit: l.exit, Ending: l.ending, EndedBy: l.endedBy, HolderPID: l.holderPID, HolderStart: l.holderStart,
		PID: l.child.PID, Start: l.child.Start, Started: api.At(l.started),
	})
}

// Restore takes them in.
func (l *Life) Restore(data json.RawMessage, _ bool) error {
	var from saved
	if err := json.Unmarshal(data, &from); err != nil {
		return err
	}
	l.exit, l.ending, l.endedBy, l.holderPID, l.holderStart = from.Exit, from.Ending, from.EndedBy, from.HolderPID, from.HolderStart
	l.child, l.started = Child{from.PID, from.Start}, from.Started.Time
	l.restarts.running = l.started
	return nil
}

// Recall takes in an end that has no control record.
func (l *Life) Recall(line events.Line) {
	switch line.Type {
	case "exited":
		if line.Cause == 0 {
			l.lost = &api.Exit{Lost: true, Time: api.At(line.Time)}
		}
	case "restarted":
		l.lost = nil
	}
}

// BeginRemoval has no program started while the session's folder is deleted. It refuses for a program
// that runs. Lost says that processes of a lost program may be left.
func (l *Life) BeginRemoval() (lost, ok bool) {
	if !l.Over() {
		return false, false
	}
	l.restarts.cancel()
	l.removing++
	return l.exit.Lost, true
}

// EndRemoval takes that back, because the folder could not be deleted.
func (l *Life) EndRemoval() { l.removing-- }

// onceMore says that the program ended to be started once more.
func (l *Life) onceMore() bool {
	return !l.ending && l.exit.Code != nil && slices.Contains(l.env.Spec().Again, *l.exit.Code)
}

// endsDone answers those who wait for the program's end.
func (l *Life) endsDone(err error) {
	for _, done := range l.ends {
		done <- err
	}
	l.ends = nil
}

// begun answers those who wait for a start.
func (l *Life) begun(err error) {
	for _, done := range l.begins {
		done <- err
	}
	l.begins = nil
}
