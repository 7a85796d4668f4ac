package track

import (
	"fmt"
	"time"

	"berth/agent"
	"berth/detect"
	"berth/detect/tail"
	"berth/sessions/loop"
)

// detection is what is believed of the agent of one program, and why.
type detection struct {
	driver    agent.Driver
	fold      *detect.Fold
	files     files
	stream    *tail.Assembler // of lines in the output that tell of it; nil where there are none
	stateSeen []byte          // what the live state file said last
	screen    screen
	last      time.Time // of the newest fact: time does not go back
	ids       promptIDs
	waking    waking
	restored  bool     // it goes on where a checkpoint left off
	said      *Said    // the last message
	late      *Said    // the newest one whose words were logged after its turn's end
	words     string   // what an agent that prints lines has said since its turn began
	does      Activity // what it does, as watchers know it
	meter     Meter    // of what turns take
}

// screen is what the driver reads of the agent's screen.
type screen struct {
	viewer  detect.Viewer
	looks   detect.Looks
	reads   bool           // its driver reads the screen
	due     time.Time      // when it is to be read; zero: it is as it was read
	spokeAt time.Time      // when output was last told of to a driver that does not
	reading *agent.Reading // of the newest screen
	drawing drawing
}

// waking is how far what the last server saw has been taken in again.
type waking struct {
	awake   bool      // it has
	at      time.Time // when this server took the program up again; zero: it started it
	unseen  bool      // the screen was not read since
	rousing bool      // that is being done: what follows for the state is seen when all have spoken
}

// newDetection begins anew with a program. The fold is still to be made.
func newDetection(driver agent.Driver, last time.Time) *detection {
	return &detection{driver: driver, last: last, screen: screen{reads: ReadsScreen(driver)}}
}

// newStream begins to read what a program prints as lines that tell of it, where
// its driver says that they do.
func (d *detection) newStream(spec Spec, from tail.Place) {
	if spec.Stream {
		d.stream = tail.Assemble(from, StreamLimit)
	}
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

// recall takes in what a sequence said while a server before this one, or none,
// was there. A title can be asked for again; a sequence is said once. Told is
// only what is believed once all has been read.
func (d *detection) recall(facts []agent.Fact) {
	for _, f := range facts {
		f.Time = d.last
		_ = d.fold.Apply(f)
	}
}

// wordless says that the agent tells of its turn's end and not of what it said.
func wordless(f agent.Fact) bool {
	return f.Kind == agent.TurnEnded && f.How == agent.Completed && f.Agent == "" && f.Text == "" && f.Turn == ""
}

// worded gives the end of a turn that was told without words and without its name
// what the log has of it. The log itself may not tell that it is over.
func (d *detection) worded(f agent.Fact) agent.Fact {
	l := &d.files.log.ledger
	if !wordless(f) || l.Turn == "" {
		return f
	}
	f.Turn, f.Text = l.Turn, l.Words
	d.meter.Take(f.Turn, agent.Fact{}, true)
	return f
}

// printed gives the end of a turn that is told without words the last that were
// printed before it.
func (d *detection) printed(f agent.Fact) agent.Fact {
	switch {
	case f.Agent != "":
	case f.Kind == agent.Acting && f.Text != "":
		d.words = f.Text
	case f.Kind == agent.TurnEnded && f.Text == "":
		f.Text, d.words = d.words, ""
	case f.Kind == agent.TurnStarted:
		d.words = ""
	}
	return f
}

// oldEntry says that a line of the log is of the past.
func (d *detection) oldEntry(line []byte) bool {
	facts, err := d.driver.Log(line)
	if err != nil || len(facts) == 0 || facts[0].At.IsZero() {
		return false
	}
	return !facts[0].At.After(d.files.log.since)
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

// ReadsScreen says whether what is on the screen may move anything. The driver may be nil.
func ReadsScreen(driver agent.Driver) bool {
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
