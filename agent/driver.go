package agent

import "time"

// Driver is what Berth knows about one agent. It is pure: what it is given are
// bytes a source produced, what it returns are facts without a time. It keeps
// nothing between calls and may be used by many at once.
//
// An error says that the bytes were not what that source produces; there are
// no facts in it then.
type Driver interface {
	Name() string

	// Hook reads one event of the agent's hooks, as its JSON came.
	Hook(payload []byte) ([]Fact, error)
	// Registry reads the agent's live state file; nil facts for a file that is
	// not one. A torn file is an error: the last value holds.
	Registry(name string, data []byte) ([]Fact, error)
	// Title reads a terminal title, OSC another sequence by its number.
	Title(title string) []Fact
	OSC(number int, payload string) []Fact
	// Log reads one whole line of the session log, Stream one of the structured
	// output.
	Log(line []byte) ([]Fact, error)
	Stream(line []byte) ([]Fact, error)
	// Screen reads the bottom of the screen.
	Screen(v *View) *Reading

	// FromDialog is the prompt a dialog asks, without id and time, for a dialog
	// that no other source told of.
	FromDialog(d *Dialog) *Request
	// Match says how much of a prompt that the agent told of the dialog shows. Hooks
	// can lie: what is not shown whole, character by character, is no WholeMatch.
	Match(d *Dialog, p *Request) Match
	// Fill puts into the prompt what only the dialog tells.
	Fill(p *Request, d *Dialog)
	// Waiting is the prompt of which a live state file only says that there is
	// one; the fact carries the tool call that is pending, when one is known.
	Waiting(f *Fact) *Request

	// Table names for each move the sources that may cause it.
	Table() Table
}

// Move is a change of what is believed of an agent.
type Move string

// The moves.
const (
	MoveReady  Move = "ready"  // it has started up
	MoveWork   Move = "work"   // it works on something
	MoveDone   Move = "done"   // its turn ended, by its own word
	MoveRest   Move = "rest"   // its turn is over, inferred: interrupted, denied
	MoveFail   Move = "fail"   // its turn ended in an error
	MoveAsk    Move = "ask"    // it asks
	MoveAnswer Move = "answer" // what it asked is answered
	MoveFollow Move = "follow" // it goes on with another conversation
	// MoveReplace: so it does whenever one begins of which the one followed so
	// far tells no turn. Only for agents that tell of their main one alone.
	MoveReplace Move = "replace"
)

// Witness is a source that may cause a move, once what it shows has held that
// long.
type Witness struct {
	Source Source
	After  time.Duration
	// NotFirst excludes the source for the program's first turn, while another source says
	// "idle" in the program's own word: what starts up looks like work there.
	NotFirst bool
}

// Table names for each move the sources that may cause it. What any other
// source says of it is evidence and moves nothing.
type Table map[Move][]Witness

// May says whether the source may cause the move, and what must have passed.
func (t Table) May(m Move, s Source) (after time.Duration, ok bool) {
	w, ok := t.Witness(m, s)
	return w.After, ok
}

// Witness is the source as a witness of the move; ok false where it is none.
func (t Table) Witness(m Move, s Source) (w Witness, ok bool) {
	for _, w := range t[m] {
		if w.Source == s {
			return w, true
		}
	}
	return Witness{}, false
}
