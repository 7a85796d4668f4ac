package sessions

import (
	"log/slog"
	"time"

	"berth/agent"
	"berth/api"
	"berth/sessions/clients"
	"berth/sessions/gates"
	"berth/sessions/hold"
	"berth/sessions/loop"
	"berth/sessions/outbox"
	"berth/sessions/prompts"
	"berth/sessions/track"
	"berth/terminal"
)

// core is what a session's loop owns. Nothing else touches it.
type core struct {
	s    *Session
	spec Spec
	log  *slog.Logger
	term *terminal.Terminal // nil for an ended session that no client looks at

	journal *loop.Journal
	progress
	life
	saving

	parts    loop.Parts
	partsDue time.Time // when one of them has something to do; zero: none
	clients  *clients.Clients
	track    *track.Track
	gates    *gates.Gates
	prompts  *prompts.Prompts
	outbox   *outbox.Outbox
	paces    loop.Paces

	settling   []func()  // what waits for a picture that is not half drawn
	pictureAge time.Time // when an ended session's picture was last wanted
	reviewing  bool      // the journal is read for the picture alone
	dirty      bool      // status to publish
	moved      bool      // likewise, for the times and the offset in it alone
}

// progress is how far the journal was applied.
type progress struct {
	applied uint64 // number of the last control record applied to the emulator
	told    uint64 // number of the last control record that made its event
	replyAt int64  // queries that ended at or before it are not answered again
	lastOut time.Time
	losses  int64 // bytes of output that could not be kept
}

// life is the program's: its processes, its end, and who waits for an end or a start.
type life struct {
	child       child
	dialed      time.Time // when the holder was last asked for
	holderPID   int
	holderStart string
	started     time.Time
	starting    bool // a holder is being started
	exit        *api.Exit
	lost        *api.Exit  // an end without a record, as an event has it
	ending      bool       // a caller asked for the end: no automatic restart
	again       bool       // and for a new start after it
	endSoon     *loop.Mark // and while a holder was being started
	restarts    restarts
	ends        []chan error // callers who wait for the program's end
	begins      []chan error // and for its start
	removing    int          // callers who delete its folder: it is not started again
	removed     bool         // the loop ends
}

// child is the session's own program.
type child struct {
	pid   int
	start string // tells two processes of one pid apart
}

// saving is when the checkpoint was written, and what could not be done.
type saving struct {
	saveSoon    bool      // a checkpoint is due at the end of this turn of the loop
	saved       time.Time // when the checkpoint was last written
	savedAt     int64     // output offset of that checkpoint
	savedCursor uint64    // newest event when it was written
	savedTitle  string    // title in the checkpoint that an ended session was found with
	problem     string    // the last failure that the session has survived
	problemOf   string    // what could not be done
}

func (c *core) now() time.Time { return c.s.reg.now() }

// link is the link to the holder; nil without one that answers.
func (c *core) link() *hold.Link { return c.journal.Link() }

// publish makes the present status the one that everybody reads.
func (c *core) publish() {
	if !c.dirty && !c.moved && c.s.status.Load() != nil {
		return
	}
	visible := c.dirty
	c.dirty, c.moved = false, false
	st := &Status{
		Spec: c.spec, View: c.track.View(), Seq: c.s.reg.events.LastSeq(c.s.id),
		Exit: c.exit, Writer: c.clients.Writer(), Viewers: c.clients.Viewers(), PID: c.child.pid, Cols: c.spec.Cols, Rows: c.spec.Rows,
		Started: c.started, LastOutput: c.lastOut, LastInput: c.clients.LastInput(), Losses: c.losses, Problem: c.problem,
	}
	st.FirstPending = c.outbox.First()
	driver := c.s.reg.driver(c.spec)
	st.Tells, st.Driven = c.tells(driver), driver != nil
	if _, limited := driver.(agent.LimitedStates); limited {
		st.Driven = false
	}
	if d, ok := driver.(agent.RulesNamer); ok {
		st.RulesName = d.RulesName()
	}
	if c.exit == nil {
		st.HolderPID, st.HolderStart = c.holderPID, c.holderStart
	}
	if c.term != nil {
		st.Title, st.Offset, st.Panics = c.term.Title(), c.term.Offset(), c.term.Panics()
		st.Cols, st.Rows = c.term.Size()
		st.Modes = c.term.Modes()
	} else if old := c.s.status.Load(); old != nil {
		st.Title, st.Offset, st.Panics, st.Cols, st.Rows = old.Title, old.Offset, old.Panics, old.Cols, old.Rows
	} else {
		st.Title, st.Offset = c.savedTitle, c.savedAt
	}
	c.s.status.Store(st)
	c.s.bells.Ring()
	c.clients.Ring(visible)
}

// tells are the states that the driver can tell of its program: all of them,
// once a program of which little is known has told of itself.
func (c *core) tells(driver agent.Driver) []agent.State {
	limited, ok := driver.(agent.LimitedStates)
	switch {
	case driver == nil:
		return nil
	case !ok, c.track.Follows() && c.track.Fold().Told():
		return agent.States
	}
	return limited.ReportedStates()
}

// changeSpec keeps a changed spec on disk before it is used and told.
func (c *core) changeSpec(change func(*Spec), told func()) error {
	spec := c.spec
	change(&spec)
	if err := saveSpec(c.s.dir, spec); err != nil {
		return err
	}
	c.spec, c.dirty = spec, true
	told()
	c.publish()
	c.clients.Dismiss()
	return nil
}

// background runs work that must not hold up the loop; Close waits for it. It
// is the loop's to call.
func (c *core) background(work func()) { c.s.reg.loops.Go(work) }
