package sessions

import (
	"context"
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

// The loop's own times.
const (
	settleEvery      = 10 * time.Millisecond // while somebody waits for a synchronized update to end
	checkpointTime   = 30 * time.Second      // most time of change between checkpoints
	checkpointSize   = 8 << 20               // most output between checkpoints, bytes
	checkpointEvents = 20_000                // most events of all sessions since one: the next server reads them all
	dropPicture      = time.Minute           // an ended session's screen unused this long leaves memory
	dialAgain        = 5 * time.Second       // a holder that does not answer is asked again
)

// run is the session's loop. It ends with ctx; the program does not.
func (c *core) run(ctx context.Context) {
	defer close(c.s.over)
	defer c.close()
	timer := time.NewTimer(0)
	defer timer.Stop()
	c.clients.Start()
	c.outbox.Carry()
	c.publish()
	for {
		c.clients.CloseLane()
		more := c.journal.CatchUp()
		c.tick(c.now())
		c.publish()
		if c.removed {
			return
		}
		pause := time.Duration(0) // calls are looked at between two pieces of a flood
		if !more {
			pause = c.pause(c.now())
		}
		timer.Reset(pause)
		c.clients.OpenLane()
		select {
		case call := <-c.s.calls:
			c.clients.CloseLane()
			call(c)
		case <-c.clients.Poked():
			c.clients.LookAtWindows()
		case <-c.s.stirred:
			c.track.Stir()
		case <-c.journal.Wake():
			c.journal.Woken()
		case <-timer.C:
		case <-ctx.Done():
			c.clients.CloseLane()
			c.flushAllPaced()
			c.save()
			return
		}
	}
}

func (c *core) now() time.Time { return c.s.reg.now() }

// link is the link to the holder; nil without one that answers.
func (c *core) link() *hold.Link { return c.journal.Link() }

// tick does what is due by the clock.
func (c *core) tick(now time.Time) {
	c.settle()
	c.flushPaced(now)
	c.partsDue = c.parts.Tick(now)
	c.reconnect(now)
	c.judgeEnd(now)
	c.limits(now)
	c.saveIfDue(now)
	if c.pictureIsIdle() && now.Sub(c.pictureAge) > dropPicture {
		c.dropPicture()
	}
}

// pictureIsIdle says that only memory of lookers-on keeps the emulator.
func (c *core) pictureIsIdle() bool {
	return c.exit != nil && c.term != nil && c.link() == nil && !c.starting && c.clients.None()
}

// pause is how long nothing is due.
func (c *core) pause(now time.Time) time.Duration {
	if c.journal.Unread() {
		return 0
	}
	next := time.Hour
	due := func(at time.Time) { next = min(next, max(at.Sub(now), 0)) }
	if len(c.settling) > 0 {
		next = settleEvery
	}
	if at := c.paces.Due(); !at.IsZero() {
		due(at)
	}
	if !c.partsDue.IsZero() {
		due(c.partsDue)
	}
	if at := c.track.Due(now); !at.IsZero() {
		due(at)
	}
	if at, ok := c.limitsDue(); ok {
		due(at)
	}
	if at, ok := c.restarts.due(); ok && !c.starting {
		due(at)
	}
	if c.term != nil && c.exit == nil && c.term.Offset() > c.savedAt {
		due(c.saved.Add(checkpointTime))
	}
	if c.pictureIsIdle() {
		due(c.pictureAge.Add(dropPicture + time.Second))
	}
	return next
}

// unsettled says that the picture is none to show: a synchronized update is
// under way, or what the last server saw is still being read again. A picture
// from before that would take a client back in time.
func (c *core) unsettled() bool {
	return c.term != nil && (c.term.InSync() || c.journal.Past())
}

// whenSettled runs fn now, or when there is a picture to show.
func (c *core) whenSettled(fn func()) {
	if !c.unsettled() {
		fn()
		return
	}
	c.settling = append(c.settling, fn)
}

func (c *core) settle() {
	if len(c.settling) == 0 || c.unsettled() {
		return
	}
	ready := c.settling
	c.settling = nil
	for _, fn := range ready {
		fn()
	}
}

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

// close gives everything back when the loop ends. The program runs on.
func (c *core) close() {
	for _, fn := range c.settling {
		fn()
	}
	c.settling = nil
	c.endsDone(c.s.stopped())
	c.outbox.Close()
	c.begun(c.s.stopped())
	c.clients.SizesDone()
	c.track.Close()
	c.journal.Close()
}
