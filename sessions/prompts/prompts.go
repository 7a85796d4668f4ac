// Package prompts answers what a session's agent asks: by the hook that waits for it, else by
// keys under the lease (Respond); by the session's own policy at the agent's start (start); and
// it ends a turn (Interrupt).
//
// What was shown is what is answered. An answer names a prompt by its id and, if the caller gives
// it, the digest of what the prompt showed. Both are checked on the loop after all that was
// written has been read, right before the hook's verdict is sent and right before each key: then
// nothing can come between the look and the key but what is still on its way from the agent.
//
// What becomes of an answer is known later, by the closing of its prompt. An answer on its way
// (answering) is followed from before it is given until then, for 4 s at most. It stands beside
// each of its keys in the control log, and in the checkpoint, so that the next server follows it
// too and its end has one event.
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
	// Fold is what is believed of the agent; it is there while the agent is followed.
	Fold func() *detect.Fold
	// Clock is the moment of a fact: never before the newest one, never in the future.
	Clock func(at time.Time) time.Time
	// Pass takes the decisions that are due by a moment.
	Pass func(at time.Time)
	// Believe makes events of what has changed. While what the last server saw is read again,
	// the events are there already, and what closed is taken in alone.
	Believe func(detect.Result)
	// Read takes in what the holder has written. Sweep has that done at the next turn.
	Read  func()
	Sweep func()
	// Look takes in all that the holder has written and reads the screen as it is now; false
	// while there is more to read, or a picture is half drawn.
	Look func() (*agent.Reading, terminal.Modes, bool)
	// Deaf says that the program or its holder is stopped, or that what was typed before is
	// still unread. The screen is then of the past, and a key would reach what comes next.
	Deaf func() bool
	// Mark is that of the input record which was applied last.
	Mark func() loop.Mark
	// Printed is how much output is on the screen, in bytes since the session's start.
	Printed func() int64
	// Waits says that another part has yet to answer the hook.
	Waits func(hook uint64) bool
	// Watched says that a client which may write is attached.
	Watched func() bool
	// GoesOn says that the program runs, or ended to be started once more.
	GoesOn func() bool
	// Policy is what Berth may answer by itself at the agent's start; false: nothing.
	Policy func() (agent.Policy, bool)
}

// Prompts is the part. New makes one. All but env are the loop's alone.
type Prompts struct {
	env       Env
	program   int                  // counts the programs, to tell work for one from work for the next
	responded map[string]time.Time // when the newest answer to a prompt got its event, since the checkpoint
	asked
}

// asked is what is known of one program.
type asked struct {
	followed bool // it runs, and Berth follows its agent
	hooked   bool // the agent's hooks tell of it

	asking     map[uint64]bool       // hooks that wait for a verdict, by their records
	answers    map[string]*answering // on their way, by prompt
	superseded []string              // the last prompts that became others, unanswered
	othersAt   time.Time             // when input that was no answer came last
	othersTo   int64                 // and how much was printed by then

	groom    groom.Machine
	groomAt  time.Time // when it has something to do
	grooming bool      // an answer is being given
}

var _ loop.Part = (*Prompts)(nil)

// New makes the prompts of a session.
func New(env Env) *Prompts { return &Prompts{env: env} }

// Begin forgets what the program before asked.
func (ps *Prompts) Begin(time.Time) { ps.End(); ps.followed = true }

// End forgets what the program asked. Ending has judged the answers on their way.
func (ps *Prompts) End() { ps.program, ps.asked = ps.program+1, asked{} }

// Record has nothing to do: Heed comes after what follows from a record has its events.
func (ps *Prompts) Record(hold.Record) (loop.Told, error) { return loop.Told{}, nil }

// Hooked takes in that the agent's hooks tell of it.
func (ps *Prompts) Hooked() { ps.hooked = true }

// Tick gives up on answers, and gives those of the session's policy.
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

// saved is what the next server has to know.
type saved struct {
	Answers []answering   `json:"answers,omitempty"` // under way
	Groom   groom.Machine `json:"groom"`
}

// Save gives the answers on their way, and what was answered by policy.
func (ps *Prompts) Save() (json.RawMessage, error) {
	return json.Marshal(saved{Answers: ps.underWay(), Groom: ps.groom})
}

// Restore goes on where Save left off, once the events since are recalled.
func (ps *Prompts) Restore(data json.RawMessage, followed bool) error {
	var from saved
	if err := json.Unmarshal(data, &from); err != nil {
		return err
	}
	if ps.End(); followed {
		ps.followed, ps.groom = true, from.Groom
		ps.resume(from.Answers)
	}
	return nil
}

// Recall takes in that what became of an answer has its event.
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
	if ps.responded == nil {
		ps.responded = map[string]time.Time{}
	}
	ps.responded[e.Prompt] = line.Time
	if a := ps.answers[e.Prompt]; a != nil && !a.At.After(line.Time) {
		delete(ps.answers, e.Prompt)
	}
}
