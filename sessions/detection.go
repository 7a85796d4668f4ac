package sessions

import (
	"fmt"
	"slices"
	"time"

	"berth/agent"
	"berth/api"
	"berth/detect"
	"berth/detect/tail"
	"berth/sessions/events"
	"berth/sessions/hold"
	"berth/sessions/loop"
	"berth/sessions/prompts"
	"berth/sessions/track"
)

// screenPace is how soon after output the screen is read: what an agent draws
// comes in several writes.
const screenPace = 25 * time.Millisecond

// detection is what is believed of a session's agent, and why. An agent that
// this server does not know has none.
type detection struct {
	driver    agent.Driver
	fold      *detect.Fold
	viewer    detect.Viewer
	looks     detect.Looks
	files     files
	stream    *tail.Assembler // of lines in the output that tell of the agent; nil where there are none
	stateSeen []byte          // what the live state file said last
	looksAt   bool            // its driver reads the screen
	screenAt  time.Time
	spokeAt   time.Time // when output was last told of to a driver that does not
	last      time.Time // of the newest fact: time does not go back
	ids       promptIDs
	awake     bool           // what the last server saw has been taken in again
	wokeAt    time.Time      // when this server took the program up again; zero: it started it
	unseen    bool           // the screen was not read since
	rousing   bool           // that is being done: what follows for the state is seen when all have spoken
	restored  bool           // it goes on where a checkpoint left off
	reading   *agent.Reading // of the newest screen
	drawing   drawing
	said      *Said          // the last message
	words     string         // what an agent that prints lines has said since its turn began
	told      track.Activity // of what it does
	meter     track.Meter    // of what turns take
}

// newDetection begins anew with a program.
func (c *core) newDetection(at time.Time) {
	driver := c.s.reg.driver(c.spec)
	if driver == nil {
		return
	}
	c.detection.close()
	d := &detection{driver: driver, last: c.onClock(at), looksAt: looksAtScreen(driver)}
	d.fold = detect.New(driver, d.options(c, at))
	c.newStream(d, tail.Place{Offset: c.term.Offset()})
	c.detection, c.lastWords = d, nil
	for _, part := range c.parts {
		part.Begin()
	}
}

func (d *detection) options(c *core, start time.Time) detect.Options {
	return detect.Options{
		Conversation: c.spec.Conversation, Start: start, Headless: c.spec.Headless, IdleGrace: c.spec.IdleGrace, Forked: c.spec.forked(),
		Again: len(c.spec.Again) > 0, Dir: c.spec.Cwd,
		PromptID: func(uint64) string { return d.ids.next(c.s.id) },
	}
}

// promptIDs names prompts by the events that open them.
type promptIDs struct {
	opening uint64 // number of the event that opens a prompt, if one opens now
	opened  uint64 // of the one that opened the last
	again   int    // how many that opened
}

// next is made of the event that opens the prompt. One event may open several.
func (ids *promptIDs) next(session string) string {
	if ids.opened != ids.opening {
		ids.opened, ids.again = ids.opening, 0
	}
	if ids.again++; ids.again > 1 {
		return fmt.Sprintf("%s-%d.%d", session, ids.opening, ids.again)
	}
	return fmt.Sprintf("%s-%d", session, ids.opening)
}

// restoreDetection goes on where a checkpoint left off.
func (c *core) restoreDetection(from checkpoint) {
	driver := c.s.reg.driver(c.spec)
	switch {
	case driver == nil:
		for _, part := range c.parts {
			part.End()
		}
		return
	case len(from.Detection) == 0: // by a server that followed no such program
		if from.PID != 0 {
			c.newDetection(from.Started.Time)
		}
		return
	}
	d := &detection{driver: driver, last: c.onClock(from.Taken.Time), restored: true, looksAt: looksAtScreen(driver)}
	fold, err := detect.Restore(driver, d.options(c, from.Started.Time), from.Detection, from.Taken.Time)
	if err != nil {
		c.trouble("restore what was known of the agent", err)
		c.newDetection(from.Taken.Time)
		return
	}
	d.fold, d.said, d.meter = fold, from.Said, from.Meter
	d.restoreLog(c.spec.logs(), from.Log)
	if from.Stream != nil {
		c.newStream(d, *from.Stream)
	}
	d.fold.Sleep()
	c.detection = d
}

// close ends what the detection has others do for it. It may be nil.
func (d *detection) close() {
	if d != nil {
		d.files.close()
	}
}

// clock is the moment of a fact: never before the one told last.
func (d *detection) clock(at time.Time) time.Time {
	if at.Before(d.last) {
		return d.last
	}
	d.last = at
	return at
}

// onClock is a moment that a file reports, as the loop's own clock has it.
func (c *core) onClock(at time.Time) time.Time { return loop.Env{Now: c.now}.OnClock(at) }

// applyHook takes in an event of the agent's hooks. It and all that follows
// from it become events in one step, so that a kill leaves all or none.
func (c *core) applyHook(r hold.Record) error {
	h, err := loop.Decode[hold.HookData](r)
	if err != nil {
		return err
	}
	told := r.N <= c.told
	if !told {
		c.hooks.hook(h)
		c.moved = true
	}
	e := hookEvent{Event: h.Event, Bytes: h.Bytes, Payload: h.Payload, Head: h.Head, Truncated: h.Truncated || h.Head != "" && !h.File, Malformed: h.Malformed}
	payload := []byte(h.Payload)
	if h.File {
		if whole, err := hold.ReadHook(c.s.dir, r.N); err == nil {
			payload = whole
		}
	}
	var results []detect.Result
	var also []events.Event
	if d := c.detection; d != nil && len(payload) > 0 {
		if !told {
			c.pass(c.onClock(r.Time.Time))
		}
		d.ids.opening = c.eventNumber(r, told)
		facts, err := d.driver.Hook(payload)
		if err == nil {
			for _, f := range facts {
				f.Time = d.clock(c.onClock(r.Time.Time))
				if h.Ask && f.Kind == agent.Asked && !c.prompts.Faced(f.Request) {
					f.Hook = prompts.HookID(r.N)
				}
				if !told && wordless(f) {
					c.readLog() // what it said last stands there by now
				}
				some, beside := c.believe(f, r.N, h.Ask)
				e.Foreign = e.Foreign || some[0].Foreign
				results, also = append(results, some...), append(also, beside...)
			}
		}
	}
	if d := c.detection; d != nil {
		c.prompts.Hooked()
	}
	if d := c.detection; d != nil && h.Ask {
		c.prompts.Asks(r.N)
	}
	c.clients.Gather()
	if told { // and so is all that followed from it
		c.closedBefore(results)
		c.outbox.SettleTaken(0)
		return nil
	}
	c.told = r.N
	c.tell(results, append([]events.Event{{Type: "hook", Cause: r.N, Data: e}}, also...)...)
	c.prompts.LetGo()
	return nil
}

// noteConversation keeps which conversation a new start takes up: the first
// that is known, and then the one in which something was said. Where no hook
// tells of the turn, that it works does.
func (c *core) noteConversation(f agent.Fact, r detect.Result) {
	id := c.detection.fold.Status().Conversation
	if r.Foreign || id == "" {
		return
	}
	spoken := f.Kind == agent.TurnStarted || slices.ContainsFunc(r.Transitions, func(t detect.Transition) bool { return t.Next == agent.Working })
	same := c.spec.Conversation == id
	if same && (c.spec.Spoken || !spoken) || !same && c.spec.Conversation != "" && !spoken {
		return
	}
	err := c.changeSpec(func(s *Spec) { s.Conversation, s.Spoken = id, spoken }, func() {})
	if err != nil {
		c.trouble("keep the conversation's id", err)
	}
}

// eventNumber is the number of the event that a record makes, or made.
func (c *core) eventNumber(r hold.Record, told bool) uint64 {
	if seq, ok := c.seqOf[r.N]; told && ok {
		return seq
	}
	return c.s.reg.events.LastSeq(c.s.id) + 1
}

// facts takes in what a source other than the hooks reports now. While the
// journal is read again its titles are of the past.
func (c *core) facts(facts []agent.Fact) {
	d := c.detection
	if d == nil || !d.awake || c.exit != nil {
		return
	}
	var results []detect.Result
	for _, f := range facts {
		d.ids.opening = c.s.reg.events.LastSeq(c.s.id) + 1
		f.Time = d.clock(c.now())
		result := d.fold.Apply(f)
		c.noteConversation(f, result)
		c.followLog(d, f, result)
		c.listen(f, result)
		if d.rousing {
			result.Transitions = nil
		}
		results = append(results, result)
	}
	c.tell(results)
}

// detect looks at the sources that do not report by themselves, and lets time
// pass.
func (c *core) detect(now time.Time) {
	d := c.detection
	if d == nil || c.exit != nil || c.link == nil || c.term.Offset() < c.liveFrom {
		return
	}
	if !d.awake {
		if c.recalled() {
			c.seekLog(now)
		}
		if c.readLog(); d.files.log.more {
			return // all that the last server took in comes first
		}
		c.wakeDetection(now)
	}
	if c.stirred || d.files.log.more {
		c.stirred = false
		c.readFiles()
	}
	if !d.screenAt.IsZero() && !now.Before(d.screenAt) && !c.term.InSync() {
		c.readScreen()
	}
	c.pass(now)
	if believed := d.fold.Status(); believed.State != c.state && !c.waking(now) { // the holder did not answer for a while, or a server ended
		c.setState(believed.State, believed.Tier, believed.Cause)
	}
	c.tellActivity(now)
}

// pass applies the decisions that are due by time alone. They get an event of their own: a
// prompt named by a hook's event must belong to that hook, also for the next server.
func (c *core) pass(now time.Time) {
	d := c.detection
	if at := d.fold.Deadline(); d.awake && !at.IsZero() && !now.Before(at) {
		d.ids.opening = c.s.reg.events.LastSeq(c.s.id) + 1
		c.tell([]detect.Result{d.fold.Tick(d.clock(now))})
	}
}

// wakesWithin bounds how long the state that was told last outweighs what is
// believed by an older checkpoint, while the agent's sources have yet to be
// believed or read.
const wakesWithin = time.Second

// recalled says that the program was there before this server: what a server told
// of it is newer than what is believed by a checkpoint.
func (c *core) recalled() bool { return c.started.Before(c.s.reg.opened) }

// waking says that what is believed may be older than the state that was told
// last: a source must hold for a while, or its screen is half drawn.
func (c *core) waking(now time.Time) bool {
	d := c.detection
	return !d.wokeAt.IsZero() && now.Sub(d.wokeAt) < wakesWithin && (d.unseen || !d.fold.Deadline().IsZero())
}

// wakeDetection takes in what is to be seen, once all that the last server saw
// has been read again.
func (c *core) wakeDetection(now time.Time) {
	d := c.detection
	d.awake, d.rousing = true, c.recalled()
	if d.rousing {
		d.wokeAt, d.unseen = now, true
	}
	defer func() { d.rousing = false }()
	for _, h := range c.link.Welcome().Hooks {
		if h.ID <= c.applied { // one that has gone since is let go in vain
			c.prompts.Asks(h.ID)
		}
	}
	if title := c.term.Title(); title != "" {
		c.facts(d.driver.Title(title))
	}
	c.watchFiles()
	c.readStateFile()
	c.supervise(c.inFront()) // a shell's command may have begun after the checkpoint
	if d.screenAt = now; !c.term.InSync() {
		c.readScreen()
	}
	d.ids.opening = c.s.reg.events.LastSeq(c.s.id) + 1
	c.tell([]detect.Result{d.fold.Wake(d.clock(now))})
	c.prompts.LetGo()
}

// recall takes in what a sequence said while a server before this one, or none,
// was there. A title can be asked for again; a sequence is said once. Told is
// only what is believed once all has been read.
func (d *detection) recall(facts []agent.Fact) {
	for _, f := range facts {
		f.Time = d.last
		_ = d.fold.Apply(f)
	}
}

// looksAtScreen says whether what is on the screen may move anything.
func looksAtScreen(driver agent.Driver) bool {
	if driver == nil {
		return false
	}
	for _, witnesses := range driver.Table() {
		for _, w := range witnesses {
			if w.Source == agent.SourceScreen {
				return true
			}
		}
	}
	return false
}

// spokeEvery is how often output is told of to a driver that does not look at
// it: who waits for silence waits for seconds.
const spokeEvery = 500 * time.Millisecond

func (c *core) readScreen() {
	d := c.detection
	d.screenAt, d.unseen = time.Time{}, false
	if !d.looksAt {
		if now := c.now(); now.Sub(d.spokeAt) >= spokeEvery {
			d.spokeAt = now
			c.facts([]agent.Fact{{Kind: agent.Spoke, Source: agent.SourceProcess, Cause: "process:output"}})
		}
		return
	}
	d.reading = d.driver.Screen(d.viewer.View(c.term.Snapshot(0)))
	begun := time.Time{}
	if d.wokeAt.IsZero() {
		begun = c.started
	}
	d.drawing.read(d.reading, begun, c.now())
	if f, ok := d.looks.Fact(d.reading, c.now()); ok {
		c.facts([]agent.Fact{f})
	}
}

// drawing is when the agent drew its first composer.
type drawing struct {
	composed time.Time     // when the first composer was seen
	dialogAt time.Time     // when a dialog was last seen before that
	took     time.Duration // from that dialog, or the start, to the composer; 0: that was not seen
}

// read takes in a reading. begun is when the program started; zero: before this server.
func (d *drawing) read(r *agent.Reading, begun, now time.Time) {
	switch {
	case !d.composed.IsZero() || r == nil:
	case r.Composer != nil:
		d.composed = now
		if !begun.IsZero() {
			d.took = now.Sub(loop.Later(begun, d.dialogAt))
		}
	case r.Dialog != nil:
		d.dialogAt = now
	}
}

// screenChanged plans a look at the screen.
func (c *core) screenChanged() {
	if d := c.detection; d != nil && d.screenAt.IsZero() {
		d.screenAt = c.now().Add(screenPace)
	}
}

// detectionDue is when detect has something to do.
func (c *core) detectionDue() (time.Time, bool) {
	d := c.detection
	if d == nil || c.exit != nil || c.link == nil {
		return time.Time{}, false
	}
	if d.files.log.more {
		return c.now(), true
	}
	at := d.screenAt
	if due := d.fold.Deadline(); !due.IsZero() && (at.IsZero() || due.Before(at)) {
		at = due
	}
	rouse := time.Time{}
	if c.waking(c.now()) {
		rouse = d.wokeAt.Add(wakesWithin)
	}
	for _, due := range []time.Time{d.told.Again, rouse} {
		if !due.IsZero() && (at.IsZero() || due.Before(at)) {
			at = due
		}
	}
	return at, !at.IsZero()
}

// foldEnd tells the fold of the program's end and what that settles.
func (c *core) foldEnd(told bool) {
	d := c.detection
	if d == nil {
		return
	}
	c.prompts.Ending(told)
	if !told {
		c.readLogToItsEnd()
	}
	d.meter.End()
	d.close()
	c.said = c.lastSaid()
	c.detection = nil // the next program has its own
	for _, part := range c.parts {
		part.End()
	}
	c.lastWords = d.fold.Explain().Words
	result := d.fold.Apply(agent.Fact{Kind: agent.ProgramExited, Source: agent.SourceProcess, Cause: "process:exit", Time: d.clock(c.now())})
	if told {
		return
	}
	c.saveSoon = false       // the end is saved by itself
	result.Transitions = nil // the end is told as every program's
	c.tell([]detect.Result{result})
}

// believed fills a status with what detection has to say.
func (c *core) believed(st *Status) {
	st.Said = c.lastSaid()
	if c.detection == nil || c.exit != nil {
		return
	}
	b := c.detection.fold.Status()
	st.Request, st.Requests, st.RestDue = b.Request, b.Requests, b.RestDue
	st.ConversationNow = b.Conversation
	st.AgentVersion, st.Mismatches = agentVersion(c.detection.driver, b), mismatches(b.Doubts)
	if b.Activity != nil {
		st.Activity = &api.Activity{Kind: string(b.Activity.Kind), Tool: b.Activity.Tool, Attempt: b.Activity.Attempt, Of: b.Activity.Of, DelayMS: b.Activity.DelayMS}
	}
	if b.Failure != nil {
		st.Failure = &api.Failure{Class: string(b.Failure.Class), Text: b.Failure.Text, Since: api.At(b.Failure.Since)}
	}
}
