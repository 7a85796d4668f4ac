package sessions

import (
	"context"
	"log/slog"
	"time"

	"berth/agent"
	"berth/api"
	"berth/detect"
	"berth/sessions/hold"
	"berth/sessions/lease"
	"berth/terminal"
)

// core is what a session's loop owns. Nothing else touches it.
type core struct {
	s    *Session
	spec Spec
	log  *slog.Logger

	term        *terminal.Terminal // nil for an ended session nobody looks at
	link        *hold.Link         // nil without a holder that answers
	output      *hold.Output
	control     *hold.Control
	woken       bool          // the holder waits to hear how far it was read
	consumed    int64         // what it heard last
	unread      bool          // there are records that no wake tells of
	typedAt     time.Time     // when keystrokes were sent whose records are unread; zero: none
	liveFrom    int64         // output before it was printed to the server before this one
	pending     []hold.Record // read and not applied yet: output before them is still to come
	recordsRead uint64        // number of the last control record read
	applied     uint64        // number of the last control record applied to term
	told        uint64        // number of the last control record that made its event
	replyAt     int64         // queries that ended at or before it are not answered again

	state       agent.State
	since       time.Time
	tier        int
	cause       string
	stateSeq    uint64
	exit        *api.Exit
	lost        *api.Exit // an end without a record, as an event has told it
	ending      bool      // somebody asked for the end: no automatic restart
	again       bool      // and for a new start after it
	endSoon     *mark     // and while a holder was being started
	starting    bool      // a holder is being started
	reviewing   bool      // the journal is read for the picture alone
	dialed      time.Time // when the holder was last asked for
	child       process
	holderPID   int
	holderStart string
	started     time.Time
	lastOut     time.Time
	lastIn      time.Time
	personAt    time.Time // when somebody last typed, at a terminal or by input and keys
	losses      int64
	hooks       HookCounts
	problem     string
	problemOf   string // what could not be done

	saveSoon   bool                 // a checkpoint is due at the end of this turn of the loop
	detection  *detection           // nil for a program without a driver
	stirred    bool                 // one of the agent's files has changed
	said       *Said                // the last message of a program that ended
	streamTold *sourcePlace         // the last line of its output that made an event
	recalledAt time.Time            // of the newest state that the last server told of
	logTold    *sourcePlace         // the last entry of its session log that made an event
	lastWords  []detect.Word        // of the sources, when the program ended
	responded  map[string]time.Time // when the newest answer to a prompt behind the checkpoint was told
	seqOf      map[uint64]uint64    // numbers of the events that records behind the checkpoint made

	transcripts transcripts

	lease     *lease.Lease
	unsaid    []lease.Change // what the last server's end did to the lease, to be told
	departed  []By           // clients whose connections ended with the last server, to be told
	members   map[string]*Member
	comings   comings
	paces     paces
	reports   reports
	followers map[Follower]*Member
	settling  []func()
	alone     time.Time // since when nobody has looked; zero: somebody does
	typing    typing
	markRead  []byte       // of the last input, and
	mark      mark         // what it says
	ends      []chan error // callers who wait for the program's end
	begins    []chan error // and for its start
	sizes     []sizeWait   // and for a size
	restarts  restarts
	mail      mail

	looked             time.Time // when the foreground was last looked at
	saved              time.Time // when the checkpoint was last written
	savedAt            int64     // output offset of that checkpoint
	savedCursor        uint64    // newest event when it was written
	savedTitle         string    // title in the checkpoint that an ended session was found with
	looks              int       // how often to look again soon, since there was output or input
	pictureAge         time.Time // when an ended session's picture was last wanted
	dirty              bool      // status to publish
	moved              bool      // likewise, for the times and the offset in it alone
	asked              window    // the size the holder was asked for last
	wantCols, wantRows int       // the size asked for last, and
	wantBy             By        // the client whose window that is
	resizing           bool      // the holder has yet to answer a resize
	removing           int       // callers who delete its folder: it is not started again
	removed            bool      // the loop ends
}

// The loop's own times.
const (
	lookActive         = 50 * time.Millisecond // foreground, after output or input
	looksAfterActivity = 3                     // so often
	lookQuiet          = 2 * time.Second       // foreground, without
	settleEvery        = 10 * time.Millisecond // while somebody waits for a synchronized update to end
	checkpointTime     = 30 * time.Second      // most time of change between checkpoints
	checkpointSize     = 8 << 20               // most output between checkpoints, bytes
	checkpointEvents   = 20_000                // most events of all sessions since one: the next server reads them all
	dropPicture        = time.Minute           // an ended session's screen unused this long leaves memory
	dialAgain          = 5 * time.Second       // a holder that does not answer is asked again
)

// run is the session's loop. It ends with ctx; the program does not.
func (c *core) run(ctx context.Context) {
	defer close(c.s.over)
	defer c.close()
	timer := time.NewTimer(0)
	defer timer.Stop()
	c.tellDeparted()
	c.carry()
	c.publish()
	for {
		c.closeLane()
		more := c.catchUp()
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
		c.openLane()
		select {
		case call := <-c.s.calls:
			c.closeLane()
			call(c)
		case <-c.s.poke:
			c.lookAtWindows()
		case <-c.s.stirred:
			c.stirred = true
		case <-c.wake():
			c.woken = true
		case <-timer.C:
		case <-ctx.Done():
			c.closeLane()
			c.flushAllPaced()
			c.save()
			return
		}
	}
}

func (c *core) now() time.Time { return c.s.reg.now() }

// wake is the holder's signal; nil, which never comes, without a holder.
func (c *core) wake() <-chan struct{} {
	if c.link == nil {
		return nil
	}
	return c.link.Wake()
}

// tick does what is due by the clock.
func (c *core) tick(now time.Time) {
	c.settle()
	c.pacing(now)
	c.readTyped(now)
	c.flushTyping(now, false)
	c.flushPaced(now)
	c.expireLease(now)
	c.look(now)
	c.detect(now)
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
	return c.exit != nil && c.term != nil && c.link == nil && !c.starting && len(c.members) == 0
}

// pause is how long nothing is due.
func (c *core) pause(now time.Time) time.Duration {
	if c.unread {
		return 0
	}
	next := time.Hour
	due := func(at time.Time) { next = min(next, max(at.Sub(now), 0)) }
	if len(c.settling) > 0 {
		next = settleEvery
	}
	if at, ok := c.typing.due(); ok {
		due(at)
	}
	if at, ok := c.paces.next(); ok {
		due(at)
	}
	if !c.typedAt.IsZero() {
		due(c.typedAt.Add(typingWindow))
	}
	if at, ok := c.leaseDue(); ok {
		due(at)
	}
	if c.running() {
		due(c.nextLook())
	}
	if at, ok := c.detectionDue(); ok {
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

// running says whether the program is there, as far as known.
func (c *core) running() bool { return c.exit == nil }

// unsettled says that the picture is none to show: a synchronized update is
// under way, or what the last server saw is still being read again. A picture
// from before that would take a client back in time.
func (c *core) unsettled() bool {
	return c.term != nil && (c.term.InSync() || c.link != nil && c.term.Offset() < c.liveFrom)
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
		Spec: c.spec, Now: c.state, Since: c.since, Seq: c.s.reg.events.LastSeq(c.s.id), StateSeq: c.stateSeq, Tier: c.tier, Cause: c.cause,
		Exit: c.exit, Writer: c.writer(), Viewers: c.viewers(), PID: c.child.pid, Cols: c.spec.Cols, Rows: c.spec.Rows,
		Program: c.child.program, Started: c.started, LastOutput: c.lastOut, LastInput: c.lastIn, Losses: c.losses, Problem: c.problem, Hooks: c.hooks,
	}
	st.FirstPending = c.firstPending()
	driver := c.s.reg.driver(c.spec)
	st.Tells, st.Driven = c.tells(driver), driver != nil
	if _, limited := driver.(agent.LimitedStates); limited {
		st.Driven = false
	}
	if d, ok := driver.(agent.RulesNamer); ok {
		st.RulesName = d.RulesName()
	}
	c.believed(st)
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
	c.s.bells.ring()
	for _, m := range c.members {
		if visible || !c.follows(m) {
			ringOne(m.changed)
		}
	}
}

// close gives everything back when the loop ends. The program runs on.
func (c *core) close() {
	for _, fn := range c.settling {
		fn()
	}
	c.settling = nil
	c.endsDone(c.s.stopped())
	c.endTickets()
	c.begun(c.s.stopped())
	c.sizesDone()
	c.detection.close()
	if c.link != nil {
		_ = c.link.Close() // the holder notices by itself
		c.link.CloseFiles()
	}
	_ = c.output.Close()  // read-only files: nothing can be lost
	_ = c.control.Close() // likewise
}
