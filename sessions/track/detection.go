package track

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"berth/agent"
	"berth/detect"
	"berth/detect/tail"
	"berth/sessions/loop"
)

// detection is what is known of the agent of one program, and how far its sources were read.
type detection struct {
	driver    agent.Driver
	fold      *detect.Fold
	files     files
	stream    *tail.Assembler // joins lines of structured output; nil if it prints none
	stateSeen []byte          // the last content of the live state file
	screen    screen
	last      time.Time // time of the newest fact; later facts are never before it
	ids       promptIDs
	waking    waking
	restored  bool     // whether it was restored from a checkpoint
	said      *Said    // the last message
	late      *Said    // the newest message that was logged after its turn's end
	words     string   // the last message of the turn in the structured output
	does      Activity // the activity in the last event about it
	meter     Meter    // the usage of turns
}

// screen is when and how the driver reads the agent's screen.
type screen struct {
	viewer  detect.Viewer
	looks   detect.Looks
	reads   bool           // whether the driver reads the screen
	due     time.Time      // when to read it; zero: it hasn't changed since it was read
	spokeAt time.Time      // when a driver that doesn't read the screen last got a fact about output
	view    *agent.View    // the newest screen, if the driver reads it
	reading *agent.Reading // the driver's reading of the newest screen
	drawing drawing
	looked  time.Time // when the newest dialog of a checkpoint came or left
	pasted  bool      // the terminal has taken pastes while the agent showed a composer
}

// waking is the way from a restored fold to a live one.
type waking struct {
	live      bool      // everything since the checkpoint was read again
	at        time.Time // when the detection went live; zero: this server started the program
	unseen    bool      // the screen was not read since then
	from      int64     // how much output an earlier server has read
	taken     time.Time // when its checkpoint was taken
	title     bool      // the title is to be read again once what it says has had time to follow the turn's end
	restoring bool      // goLive is reading the sources; the state changes after all were read
}

// newDetection returns a detection without a fold. The caller sets it.
func newDetection(driver agent.Driver, last time.Time) *detection {
	return &detection{driver: driver, last: last, screen: screen{reads: ReadsScreen(driver)}, ids: promptIDs{silent: true}}
}

// newStream starts to read the program's output as lines of JSON, if the spec says that it prints them.
func (d *detection) newStream(spec Spec, from tail.Place) {
	if spec.Stream {
		d.stream = tail.Assemble(from, StreamLimit)
	}
}

// close ends the watches of files. d may be nil.
func (d *detection) close() {
	if d != nil {
		d.files.close()
	}
}

// clock returns the time for a fact: at, but never before the last fact.
func (d *detection) clock(at time.Time) time.Time {
	if at.Before(d.last) {
		return d.last
	}
	d.last = at
	return at
}

// recall applies the facts of a sequence from before this server. A title can be read again later, but a
// sequence is printed once. No event follows before all is read.
func (d *detection) recall(facts []agent.Fact) {
	d.ids.silent = true
	for _, f := range facts {
		f.Time = d.last
		_ = d.fold.Apply(f)
	}
}

// wordless reports whether a fact is a turn's end without the last message and without the turn's id.
func wordless(f agent.Fact) bool {
	return f.Kind == agent.TurnEnded && f.How == agent.Completed && f.Agent == "" && f.Text == "" && f.Turn == ""
}

// worded adds the turn's id and last message from the log to a turn's end that has neither. The log itself
// may not report the end.
func (d *detection) worded(f agent.Fact) agent.Fact {
	l := &d.files.log.ledger
	if !wordless(f) || l.Turn == "" {
		return f
	}
	f.Turn, f.Text = l.Turn, l.Words
	d.meter.Take(f.Turn, agent.Fact{}, true)
	return f
}

// printed adds the last printed message to a turn's end that has none.
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

var errDeep = errors.New("read a report: it is too deep")

// hook reads a hook's payload, and entry a line of the log.
func (d *detection) hook(payload []byte) ([]agent.Fact, error) {
	return shallow(payload, d.driver.Hook)
}
func (d *detection) entry(line []byte) ([]agent.Fact, error) { return shallow(line, d.driver.Log) }

func shallow(report []byte, read func([]byte) ([]agent.Fact, error)) ([]agent.Fact, error) {
	if agent.Deep(report) {
		return nil, errDeep
	}
	return read(report)
}

// oldEntry reports whether a line of a log isn't later than since.
func (d *detection) oldEntry(line []byte, since time.Time) bool {
	facts, err := d.entry(line)
	if err != nil || len(facts) == 0 || facts[0].At.IsZero() {
		return false
	}
	return !facts[0].At.After(since)
}

// promptIDs names prompts by the events that open them.
type promptIDs struct {
	opening uint64 // number of the event that would open a prompt now
	silent  bool   // what is applied now makes no event: an earlier server has written its events
	hook    uint64 // number of the last hook's event
	opened  uint64 // number of the event that opened the last prompt
	again   int    // number of prompts that this event has opened
	drawn   int    // number of other prompts that were opened with this hook's
	unsaid  int    // number of prompts that were opened without an event
}

// at says which event opens a prompt from now on.
func (ids *promptIDs) at(opening uint64, silent bool) { ids.opening, ids.silent = opening, silent }

// next is the id of a prompt that opens now, which begins with the session's id and the program's mark. One event may open several.
//
// A server that starts after a kill applies the hooks' events again, but not what the screen showed
// then. So a prompt that a hook's event only made visible has no id that the hook's own may get. What is applied again
// may open other prompts than before, which have no event. The next server counts as this one does, so their ids have
// the start of the server too: an answer to one of them is none to another server's.
func (ids *promptIDs) next(program string, told bool, server time.Time) string {
	if ids.silent && !(told && ids.opening == ids.hook) {
		ids.unsaid++
		return fmt.Sprintf("%s-%d.r%s.%d", program, ids.opening, strconv.FormatInt(server.UnixNano(), 36), ids.unsaid)
	}
	if ids.opened != ids.opening {
		ids.opened, ids.again, ids.drawn = ids.opening, 0, 0
	}
	if !told && ids.opening == ids.hook {
		ids.drawn++
		return fmt.Sprintf("%s-%d.s%d", program, ids.opening, ids.drawn)
	}
	if ids.again++; ids.again > 1 {
		return fmt.Sprintf("%s-%d.%d", program, ids.opening, ids.again)
	}
	return fmt.Sprintf("%s-%d", program, ids.opening)
}

// ReadsScreen reports whether the driver uses the screen as a source. The driver may be nil.
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

// drawing records when the agent drew its first composer.
type drawing struct {
	composed time.Time     // when the first composer was seen
	dialogAt time.Time     // when a dialog was last seen before that
	took     time.Duration // from that dialog, or the start, to the composer; 0: not seen
}

// read applies a reading. begun is the program's start; zero: before this server.
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
