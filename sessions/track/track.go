// Package track keeps what a session knows of its agent: its state, its prompts, its last message and
// the usage of its turns. It is a part of the session's loop, and only the loop calls it.
//
// The agent's sources are hooks, titles, OSC sequences, the live state file, the session log, lines of
// JSON that it prints, its screen, and the foreground process of its terminal. The driver turns each
// into facts: Record, Title, Notice and Output when something arrives, and Tick for the files, the screen
// and the process. Package detect folds the facts into a state and a list of prompts. Emit turns what has
// changed into events, and adds the events of other parts that follow from it (Peers).
//
// For each fact of a hook the order is: Gate (may hold back a turn's end), the fold, KeepLog, Observe,
// Begins. After all facts come Hooked and Asks. Emit calls Taken and Closes.
//
// A new server continues from the checkpoint. Resume restores the fold, and the track then reads the
// records, log entries and lines of output since the checkpoint again. An event that an earlier server
// wrote for them is not written again (places, Env.Written). Meanwhile the fold is frozen: reports move
// it, levels and the screen don't. When all is read, the track goes live: it reads the present state of
// each source, thaws the fold, and emits what has changed. It waits for no source.
package track

import (
	"encoding/json"
	"time"

	"berth/agent"
	"berth/api"
	"berth/detect"
	"berth/detect/tail"
	"berth/sessions/loop"
)

// Track is the part. New makes one. The loop alone uses it.
type Track struct {
	env Env

	state    agent.State
	since    time.Time
	tier     int
	cause    string
	stateSeq uint64 // number of the event that made the state
	park     limit  // the error that made the state parked
	mode     string // the agent's mode in the last event about it; empty: none yet
	hooks    HookCounts
	payloads *loop.Allowance // KiB of payloads in events; nil: none yet

	d         *detection     // nil for a program without a driver
	left      *detect.Result // what the program's end has changed; End sets it for Ended
	said      *Said          // the last message of a program that ended
	lastWords []detect.Word  // the last report of each source of a program that ended
	front     foreground
	visitors  visitors

	emitted      places            // up to where log entries and lines of output have their events
	recalledAt   time.Time         // time of the newest state in an earlier server's events
	seqOf        map[uint64]uint64 // for each record after the checkpoint the number of its event
	from         *saved            // the checkpoint, until Resume uses it
	filesChanged bool              // whether one of the agent's files has changed
}

// foreground is the foreground process of the terminal, as the system reports it.
type foreground struct {
	program string    // its name
	looked  time.Time // when it was last polled
	looks   int       // how many polls are still due soon after output or input
}

// New returns the track of a session before its program starts.
func New(env Env) *Track {
	return &Track{env: env, state: agent.Starting, since: env.Now(), tier: agent.TierProcess, cause: "process:start"}
}

// saved is the part's data in the checkpoint.
type saved struct {
	State    agent.State `json:"state"`
	Since    api.Time    `json:"since"`
	StateSeq uint64      `json:"state_seq"`
	Tier     int         `json:"tier"`
	Cause    string      `json:"cause"`
	Park     limit       `json:"limit"`
	Mode     string      `json:"mode,omitempty"`

	Detection json.RawMessage `json:"detection,omitempty"` // the fold's own form
	Said      *Said           `json:"said,omitempty"`      // the agent's last message
	Meter     Meter           `json:"meter"`               // the usage of its turns
	Log       *savedLog       `json:"log,omitempty"`       // how far its session log was read
	Left      []savedLog      `json:"left,omitempty"`      // the same of the logs before
	Unread    *savedUnread    `json:"unread,omitempty"`    // logs that had no room
	Stream    *tail.Place     `json:"stream,omitempty"`    // how far its structured output was read

	Visitor *Visitor `json:"visitor,omitempty"`
	Pasted  bool     `json:"pasted,omitempty"` // see screen

	// places are ahead of Log and Stream if a server was killed while it read them again.
	places
}

// Follows reports whether the program has an agent with a driver.
func (t *Track) Follows() bool { return t.d != nil }

// Live reports whether the agent is followed, and all that an earlier server read was read again.
func (t *Track) Live() bool { return t.d != nil && t.d.waking.live }

// Driver is the agent's driver; nil without one. A reload of the rules replaces it.
func (t *Track) Driver() agent.Driver {
	if t.d == nil {
		return nil
	}
	return t.d.driver
}

// Fold is the agent's fold; nil if it has no driver.
func (t *Track) Fold() *detect.Fold {
	if t.d == nil {
		return nil
	}
	return t.d.fold
}

// State is the session's state.
func (t *Track) State() agent.State { return t.state }

// child is the process whose files are read: the visitor, or the session's own program.
func (t *Track) child() Child {
	child := t.env.Child()
	if g := t.visitors.now; g != nil {
		child.PID, child.Start, child.Started = g.PID, g.Start, g.Since.Time
	}
	return child
}

// Keeps reports whether the screen shows messages that the agent has queued itself.
func (t *Track) Keeps() bool {
	return t.d != nil && t.d.screen.reading != nil && len(t.d.screen.reading.Queued) > 0
}

// GoesOn reports whether the screen shows that the agent goes on by itself when a limit is over.
func (t *Track) GoesOn() bool {
	return t.d != nil && t.d.screen.reading != nil && t.d.screen.reading.GoesOn
}

// FilesChanged records that one of the agent's files has changed.
func (t *Track) FilesChanged() { t.filesChanged = true }

// Used is the usage of a turn. more reports whether the log may still add to it.
func (t *Track) Used(turn string) (usage *Usage, more bool) {
	d := t.d
	if d == nil {
		return nil, false
	}
	return d.meter.Usage(turn), d.files.log.tail != nil && !d.meter.Complete(turn)
}

// Close ends the watches of files. The loop calls it at its end.
func (t *Track) Close() { t.d.close() }
