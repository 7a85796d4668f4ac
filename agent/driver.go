package agent

import "time"

// Driver is what Berth knows about one agent. It is pure: it gets the bytes that a source produced
// and returns facts without a time. It keeps nothing between calls, so any number of goroutines may
// use it.
//
// An error means that the bytes aren't in that source's format; no facts come with it.
type Driver interface {
	Name() string

	// Hook reads one event of the agent's hooks: payload is the hook's JSON.
	Hook(payload []byte) ([]Fact, error)
	// Registry reads the agent's live state file. Facts are nil for a file that isn't a state file.
	// A file that was read during a write is an error, and its last value still holds.
	Registry(name string, data []byte) ([]Fact, error)
	// Title reads a terminal title. OSC reads any other OSC sequence, by its number.
	Title(title string) []Fact
	OSC(number int, payload string) []Fact
	// Log reads one whole line of the session log. Stream reads one line of structured output.
	Log(line []byte) ([]Fact, error)
	Stream(line []byte) ([]Fact, error)
	// Screen reads the bottom of the screen.
	Screen(v *View) *Reading

	// FromDialog makes a prompt, without id and time, from a dialog that no other source reported.
	FromDialog(d *Dialog) *Request
	// Match says how much of a prompt the dialog shows. The prompt is what the agent reported, and
	// hooks can be forged: only a dialog that shows all of it, character by character, is a
	// WholeMatch.
	Match(d *Dialog, p *Request) Match
	// Fill adds to the prompt what only the dialog shows.
	Fill(p *Request, d *Dialog)
	// Waiting makes a prompt when the live state file reports that the agent waits, but not for
	// what. The fact has the pending tool call, if one is known.
	Waiting(f *Fact) *Request

	// Table names the sources that may cause each move.
	Table() Table
}

// Move is a change of the agent's state that detection can make.
type Move string

// The moves.
const (
	MoveReady  Move = "ready"  // the agent has started up
	MoveWork   Move = "work"   // the agent works on something
	MoveDone   Move = "done"   // the turn ended; the agent reported it
	MoveRest   Move = "rest"   // the turn is over, inferred: interrupted or denied
	MoveFail   Move = "fail"   // the turn ended in an error
	MoveAsk    Move = "ask"    // the agent asks
	MoveAnswer Move = "answer" // the prompt is answered
	MoveFollow Move = "follow" // the agent continues with another conversation
	// MoveReplace: detection follows any new conversation while the followed one has reported no
	// turn. Only agents that report their main conversation alone have it.
	MoveReplace Move = "replace"
)

// Witness is a source that may cause a move, once it has shown the same for After.
type Witness struct {
	Source Source
	After  time.Duration
	// NotFirst excludes the source for the program's first turn, while another source says
	// "idle" in the program's own word: what starts up looks like work there.
	NotFirst bool
	// Drawn: the source can say that the agent has started up before the agent has drawn anything.
	// Its report counts once a composer or a prompt is on the screen.
	Drawn bool
}

// Table names the sources that may cause each move. Any other source is evidence only.
type Table map[Move][]Witness

// May reports whether the source may cause the move, and how long it must have shown the same.
func (t Table) May(m Move, s Source) (after time.Duration, ok bool) {
	w, ok := t.Witness(m, s)
	return w.After, ok
}

// Witness returns the table's entry for the move and the source. ok is false if there is none.
func (t Table) Witness(m Move, s Source) (w Witness, ok bool) {
	for _, w := range t[m] {
		if w.Source == s {
			return w, true
		}
	}
	return Witness{}, false
}
