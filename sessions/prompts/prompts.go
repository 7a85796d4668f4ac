// Package prompts answers the prompts of a session's agent (Respond): by the hook that waits, or else by
// keys under the lease. It answers startup prompts by the session's policy (start), and it ends a turn
// (Interrupt). It is a part of the session's loop; Respond and Interrupt run on the caller's goroutine
// and call the loop.
//
// What was shown is what is answered. An answer names a prompt by its id and, if the caller gives
// it, the digest of what the prompt showed. The loop checks both after it has read everything that was
// written, right before the hook's verdict and right before each key. So only output that is still on its
// way from the agent can come between the check and the key.
//
// The outcome of an answer is known when its prompt is closed. An answer (answering) is followed from before
// it is given until then, for at most 4 s. The control record of each of its keys has it, and so has the
// checkpoint. So the next server follows it too, and it has one event. docs/decisions/answers.md has the
// reasons.
package prompts

import (
	"encoding/json"
	"time"

	"berth/agent"
	"berth/detect"
	"berth/sessions/events"
	"berth/sessions/groom"
	"berth/sessions/hold"
	"berth/sessions/loop"
	"berth/terminal"
)

// Env is what prompts use of their session.
type Env struct {
	loop.Env
	// Fold is the agent's fold; not nil while the agent is followed.
	Fold func() *detect.Fold
	// Clock returns the time for a fact: never before the newest fact, never in the future.
	Clock func(at time.Time) time.Time
	// Pass applies the changes that are due by a time.
	Pass func(at time.Time)
	// Apply emits what has changed. While records are read again the events exist already, and Apply only
	// ends the answers of closed prompts.
	Apply func(detect.Result)
	// Read applies what the holder has written. Sweep does so at the loop's next turn.
	Read  func()
	Sweep func()
	// Look applies all that the holder has written and reads the current screen. It returns false if there
	// is more to read, or if the picture is half drawn.
	Look func() (*agent.Reading, terminal.Modes, bool)
	// Deaf reports whether the program or its holder is stopped, or hasn't read earlier input. The screen is
	// then of the past, and a key would reach the next dialog.
	Deaf func() bool
	// Halted reports whether another program that may read the keys is stopped. Like Shared, it reads all processes of the session.
	Halted func() bool
	// Busy reports whether a program that reads keys computes. It reads a key only after that, and may have closed its dialog by then.
	Busy func() bool
	// Shared reports whether another program may take what is typed at the terminal.
	Shared func() bool
	// Mark is the mark of the last applied input record.
	Mark func() loop.Mark
	// Printed is how much output is on the screen, in bytes since the session's start.
	Printed func() int64
	// Waits reports whether another part still has to answer the hook.
	Waits func(hook uint64) bool
	// Watched reports whether a client that may write is attached.
	Watched func() bool
	// GoesOn reports whether the program runs, or has exited to be started again.
	GoesOn func() bool
	// Policy says which startup prompts Berth may answer; false: none.
	Policy func() (agent.Policy, bool)
}

// Prompts is the part. New makes one. Only the loop uses its fields, except env.
type Prompts struct {
	env       Env
	program   int                  // number of the program, so that work for an earlier one is recognized
	responded map[string]time.Time // for each prompt the time of its newest answer's event
	asked
}

// asked is what is known of one program.
type asked struct {
	followed bool // the program runs, and has an agent with a driver
	hooked   bool // the agent's hooks report to Berth

	asking     map[uint64]bool       // hooks that wait for a verdict, by their records
	answers    map[string]*answering // answers without a verdict yet, by prompt
	superseded []string              // the last prompts that became others, unanswered
	othersAt   time.Time             // time of the last input that wasn't an answer
	othersTo   int64                 // offset of the output at that time

	groom    groom.Machine
	groomAt  time.Time // when its next step is due
	grooming bool      // an answer by policy is being given
}

var _ loop.Part = (*Prompts)(nil)

// New returns the part of a session.
func New(env Env) *Prompts { return &Prompts{env: env} }

// Begin forgets the prompts of the program before.
func (ps *Prompts) Begin(time.Time) { ps.End(); ps.followed = true }

// End forgets the program's prompts. Ending has judged its answers before.
func (ps *Prompts) End() { ps.program, ps.asked = ps.program+1, asked{} }

// Record does nothing, because prompts need the record's events first: the loop calls Observe after them.
func (ps *Prompts) Record(hold.Record) (loop.Outcome, error) { return loop.Outcome{}, nil }

// Hooked records that the agent's hooks report to Berth.
func (ps *Prompts) Hooked() { ps.hooked = true }

// Tick gives up on old answers, and gives those of the session's policy.
func (ps *Prompts) Tick(now time.Time) (next time.Time) {
	if !ps.env.Program().Ready() {
		return next
	}
	ps.settleAnswers(now)
	if !ps.followed {
		return next
	}
	ps.start(now)
	next = ps.answersDue()
	if at := ps.groomAt; !at.IsZero() && (next.IsZero() || at.Before(next)) {
		next = at
	}
	return next
}

// saved is the part's data in the checkpoint.
type saved struct {
	Answers  []answering   `json:"answers,omitempty"` // those without a verdict yet
	OthersAt time.Time     `json:"others_at,omitzero"`
	OthersTo int64         `json:"others_to,omitempty"`
	Groom    groom.Machine `json:"groom"`
}

// Save returns the answers without a verdict, the last input that wasn't an answer, and what was answered by
// policy.
func (ps *Prompts) Save() (json.RawMessage, error) {
	return json.Marshal(saved{Answers: ps.underWay(), OthersAt: ps.othersAt, OthersTo: ps.othersTo, Groom: ps.groom})
}

// Restore continues from what Save returned. Recall then applies the events since.
func (ps *Prompts) Restore(data json.RawMessage, followed bool) error {
	var from saved
	if err := json.Unmarshal(data, &from); err != nil {
		return err
	}
	if ps.End(); followed {
		ps.followed, ps.groom = true, from.Groom
		ps.othersAt, ps.othersTo = from.OthersAt, from.OthersTo
		ps.resume(from.Answers)
	}
	return nil
}

// Recall records that an answer has its event.
func (ps *Prompts) Recall(line events.Line) {
	if line.Type != verbRespond && line.Type != verbGroom {
		return
	}
	var e struct {
		Prompt string `json:"prompt"`
	}
	if json.Unmarshal(line.Raw, &e) != nil {
		return
	}
	ps.answered(e.Prompt, line.Time)
	if a := ps.answers[e.Prompt]; a != nil && !a.At.After(line.Time) {
		delete(ps.answers, e.Prompt)
	}
}
