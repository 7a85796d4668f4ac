// Package track is what a session believes of its agent: its state, what it asks, what it said
// last and what its turns took.
//
// The agent's sources are hooks, titles, sequences, the live state file, the session log, lines
// that it prints, its screen, and the process in front of its terminal. The driver reads each
// (Record, Title, Notice, Output, and at a Tick the files, the screen and the process) and makes
// facts, which package detect folds into a state and a list of prompts. What a fact changes
// becomes events (Tell), together with what other parts have to say to it (Peers).
//
// A server that takes up a program goes on from the checkpoint: Resume restores the fold, which
// sleeps while records, log entries and lines of output are taken in again. Their events are
// written already (places, Env.Written). Then the track wakes: it reads what is to be seen now,
// and believes it.
package track

import (
	"encoding/json"
	"time"

	"berth/agent"
	"berth/api"
	"berth/detect"
	"berth/detect/tail"
)

// Track is the part. New makes one. The loop alone uses it.
type Track struct {
	env Env

	state    agent.State
	since    time.Time
	tier     int
	cause    string
	stateSeq uint64 // number of the event that made the state what it is
	hooks    HookCounts

	d         *detection     // of the agent; nil for a program without a driver
	left      *detect.Result // what the program's end has settled, until Ended
	said      *Said          // the last message of a program that ended
	lastWords []detect.Word  // of the sources, when the program ended
	front     foreground

	told       places            // what has made its event
	recalledAt time.Time         // of the newest state in the last server's events
	seqOf      map[uint64]uint64 // numbers of the events that records after the checkpoint made
	from       *saved            // by the last server, until the program is followed again
	stirred    bool              // one of the agent's files has changed
}

// foreground is what the system says of the program.
type foreground struct {
	program string    // name of the one in the foreground
	looked  time.Time // when that was last looked at
	looks   int       // how often to look again soon, since there was output or input
}

// New makes the track of a session whose program is still to start.
func New(env Env) *Track {
	return &Track{env: env, state: agent.Starting, since: env.Now(), tier: agent.TierProcess, cause: "process:start"}
}

// saved is what the next server has to know.
type saved struct {
	State    agent.State `json:"state"`
	Since    api.Time    `json:"since"`
	StateSeq uint64      `json:"state_seq"`
	Tier     int         `json:"tier"`
	Cause    string      `json:"cause"`

	Detection json.RawMessage `json:"detection,omitempty"` // the fold's own form
	Said      *Said           `json:"said,omitempty"`      // the agent's last message
	Meter     Meter           `json:"meter"`               // what its turns take
	Log       *savedLog       `json:"log,omitempty"`       // how far its session log was taken in
	Stream    *tail.Place     `json:"stream,omitempty"`    // how far its structured output was taken in

	// What has made its event: behind what was taken in when a server that is still reading again
	// is killed itself.
	places
}

// Follows says that the program's agent is followed.
func (t *Track) Follows() bool { return t.d != nil }

// Awake says that the agent is followed, and that what the last server saw was taken in again.
func (t *Track) Awake() bool { return t.d != nil && t.d.waking.awake }

// Driver is that of the agent that is followed; nil without one. It may be another by now, as
// rules were reloaded.
func (t *Track) Driver() agent.Driver {
	if t.d == nil {
		return nil
	}
	return t.d.driver
}

// Fold is what is believed of the agent; nil when it is not followed.
func (t *Track) Fold() *detect.Fold {
	if t.d == nil {
		return nil
	}
	return t.d.fold
}

// State is the session's.
func (t *Track) State() agent.State { return t.state }

// Keeps says that the screen shows messages that the agent keeps for later.
func (t *Track) Keeps() bool {
	return t.d != nil && t.d.screen.reading != nil && len(t.d.screen.reading.Queued) > 0
}

// Stir takes in that one of the agent's files has changed.
func (t *Track) Stir() { t.stirred = true }

// Used is what a turn took; more says that the rest of it may still come.
func (t *Track) Used(turn string) (usage *Usage, more bool) {
	d := t.d
	if d == nil {
		return nil, false
	}
	return d.meter.Usage(turn), d.files.log.tail != nil && !d.meter.Complete(turn)
}

// Close ends what others do for it: the loop ends.
func (t *Track) Close() { t.d.close() }
