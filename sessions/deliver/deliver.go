// Package deliver is the delivery of a message to an agent at its composer, as
// a machine over what is seen, what sources report, and a clock: it says which
// bytes to write next, and at the end what became of the message. It writes and
// reads nothing itself.
//
// The rule that it is made for: Enter is pressed only while the screen shows
// that the composer holds what was typed, and nothing else, and nothing says
// that the agent has begun to work or to ask since. An Enter on a timer would
// answer the dialog that came in between.
package deliver

import (
	"time"

	"berth/agent"
	"berth/api"
)

// The times of a delivery. On a machine with nothing else to do it takes 0.3 s; after 5 s others
// may take the lease, and nothing more is typed.
const (
	// A frame in which there is neither composer nor dialog, or in which a
	// spinner still stands, is given so long to become one that can be typed at.
	settleFor = 500 * time.Millisecond
	// The echo of a paste took 70 to 250 ms, 700 ms on a loaded machine, and more on one with a load of 20.
	echoFor = 3 * time.Second
	// UserPromptSubmit follows Enter by 10 to 60 ms; of an Enter that had no
	// effect for so long a second one is pressed, once.
	againAfter = time.Second
	// A hook of somebody's own may hold the message back.
	confirmFor = 2500 * time.Millisecond
	// What was typed and is not to be sent is taken back, as soon as the
	// composer shows it.
	takeBackFor = 1500 * time.Millisecond
	clearFor    = 2 * time.Second
	// A key that clears was drawn within so long, or has changed nothing.
	clearHolds = 400 * time.Millisecond
	// The most keys of one clearing: two for each line of a tall composer.
	clearKeys = 100
)

// Options say what is delivered, and how.
type Options struct {
	Typist agent.Typist
	Typed  string // the text as it is typed
	Slash  bool   // it is a command of the agent's own
	Clear  bool   // a draft in the composer is cleared
	Own    string // a message of ours that an interrupt may have put back: it is no draft
}

// Seen is what is known at a moment.
type Seen struct {
	State   agent.State
	Asks    bool           // a prompt is open, on the screen or not yet
	Reading *agent.Reading // of the newest screen; nil while that is being drawn
	Paste   bool           // the terminal's mode of bracketed paste
}

// Verdict is what became of the message.
type Verdict string

// The verdicts.
const (
	Confirmed   Verdict = "confirmed"   // the agent has it
	Unconfirmed Verdict = "unconfirmed" // Enter was pressed, and nothing says that the agent has it
	Refused     Verdict = "refused"     // Enter was not pressed
)

// Outcome is the end of a delivery.
type Outcome struct {
	Verdict  Verdict
	Evidence string   // what says so
	Code     api.Code // of a verdict that is not Confirmed
	Turn     string   // the agent's id of the turn that took it, where it gives one
	Left     bool     // what was typed stands in the composer still, or may
}

// Step is what to do now: write these bytes, or nothing, and look again at the
// latest when Wait has passed; or stop, with an outcome.
type Step struct {
	Write []byte
	Wait  time.Duration
	Done  *Outcome
}

// phase is how far the delivery is.
type phase int

const (
	begun phase = iota
	clearing
	typed    // and not echoed yet
	entered  // Enter was pressed
	retiring // what was typed is being taken back
)

// Machine is one delivery. It is for one goroutine.
type Machine struct {
	o     Options
	phase phase
	since time.Time // of the phase

	stir    string // the first report since the start that the agent works or asks
	busy    string // the same, since Enter
	told    bool   // the agent's own word that it has the message
	cause   string
	turn    string
	resent  bool
	entry   time.Time // of the last Enter
	refusal Outcome   // that the taking back ends in
	keys    clearer
}

// New is a delivery that begins now.
func New(o Options, now time.Time) *Machine { return &Machine{o: o, since: now} }

// Entered says whether Enter was pressed.
func (m *Machine) Entered() bool { return !m.entry.IsZero() }

// Fact takes in what a source reports of the conversation.
func (m *Machine) Fact(f agent.Fact) {
	switch f.Kind {
	case agent.TurnStarted, agent.Queued:
		if f.Agent == "" && m.Entered() && m.o.Typist.Same(m.o.Typed, f.Text) && !m.told {
			m.told, m.cause, m.turn = true, f.Cause, f.Turn
			return
		}
	case agent.ToolStarted, agent.Asked, agent.ProgramExited:
	case agent.LevelIs:
		if f.Level != agent.LevelBusy && f.Level != agent.LevelWaiting {
			return
		}
	default:
		return
	}
	if m.stir == "" {
		m.stir = f.Cause
	}
	if m.Entered() && m.busy == "" {
		m.busy = f.Cause
	}
}

// Step is what to do, from what is seen now.
func (m *Machine) Step(s Seen, now time.Time) Step {
	switch m.phase {
	case begun:
		return m.begin(s, now)
	case clearing:
		return m.clear(s, now)
	case typed:
		return m.await(s, now)
	case entered:
		return m.confirm(s, now)
	default:
		return m.takeBack(s, now)
	}
}

func (m *Machine) enter(p phase, now time.Time) { m.phase, m.since = p, now }

func (m *Machine) over(now time.Time, most time.Duration) bool { return now.Sub(m.since) >= most }

// look asks for another look, soon: output wakes the caller anyway.
func look() Step { return Step{Wait: 20 * time.Millisecond} }

func refuse(code api.Code, why string) Step {
	return Step{Done: &Outcome{Verdict: Refused, Code: code, Evidence: why}}
}

// occupied says why the agent takes no message now; empty when it does.
func (m *Machine) occupied(s Seen) string {
	switch {
	case s.Asks:
		return "it asks"
	case s.Reading != nil && s.Reading.Dialog != nil:
		return "a dialog is open"
	case m.stir != "":
		return m.stir
	case s.State != agent.Idle && s.State != agent.InError:
		return "it is " + string(s.State)
	}
	return ""
}

// at is the composer that is ready to be typed at; nil when there is none.
func at(s Seen) *agent.Composer {
	if !s.Reading.Bare() {
		return nil
	}
	return s.Reading.Composer
}

func (m *Machine) begin(s Seen, now time.Time) Step {
	if why := m.occupied(s); why != "" {
		return refuse(api.CodeAgentBusy, why)
	}
	box := at(s)
	switch {
	case box == nil && m.over(now, settleFor):
		return refuse(api.CodeAgentBusy, "its screen shows no composer that is at rest")
	case box == nil:
		return look()
	case box.Empty && box.Mode == agent.ModeMessage:
		return m.paste(s, now)
	case box.Mode != agent.ModeMessage:
		return refuse(api.CodeDraftPresent, "the composer is in "+string(box.Mode)+" mode")
	case m.o.Clear, m.o.Own != "" && m.o.Typist.Displays(m.o.Own, box):
		m.enter(clearing, now)
		return m.clear(s, now)
	}
	return refuse(api.CodeDraftPresent, "the composer holds a draft")
}

// clear empties the composer, key by key, each once the one before was drawn.
func (m *Machine) clear(s Seen, now time.Time) Step {
	if why := m.occupied(s); why != "" {
		return refuse(api.CodeAgentBusy, why)
	}
	box := at(s)
	if box != nil && box.Empty {
		return m.paste(s, now)
	}
	key, stuck := m.keys.next(m.o.Typist, box, now)
	if stuck || m.over(now, clearFor) {
		return refuse(api.CodeDraftPresent, "the draft could not be cleared")
	}
	return write(key)
}

func write(data []byte) Step {
	step := look()
	step.Write = data
	return step
}

func (m *Machine) paste(s Seen, now time.Time) Step {
	data, ok := m.o.Typist.Paste(m.o.Typed, s.Paste)
	if !ok {
		return refuse(api.CodeNotReady, "its terminal takes no paste, and the text has several lines")
	}
	m.enter(typed, now)
	return write(data)
}

// await waits for the echo, and presses Enter on it.
func (m *Machine) await(s Seen, now time.Time) Step {
	if why := m.occupied(s); why != "" {
		return m.retire(s, now, why)
	}
	if box := at(s); box != nil && m.o.Typist.Holds(m.o.Typed, box) && m.over(now, m.o.Typist.Pause()) {
		return m.press(now)
	}
	if m.over(now, echoFor) {
		return m.retire(s, now, "the composer did not show what was typed")
	}
	return look()
}

func (m *Machine) press(now time.Time) Step {
	m.enter(entered, now)
	m.entry = now
	return write([]byte{'\r'})
}

// confirm looks for evidence that the agent has the message.
func (m *Machine) confirm(s Seen, now time.Time) Step {
	box := at(s)
	switch {
	case m.told:
		return m.confirmed(m.cause)
	case m.o.Slash && s.Reading != nil && !m.o.Typist.Holds(m.o.Typed, s.Reading.Composer):
		return m.confirmed("screen:composer")
	case now.Sub(m.entry) >= confirmFor:
		return m.undecided(s, box)
	case !m.resent && now.Sub(m.entry) >= againAfter && m.occupied(s) == "" && box != nil && m.o.Typist.Holds(m.o.Typed, box):
		m.resent, m.entry = true, now
		return write([]byte{'\r'})
	}
	return look()
}

func (m *Machine) confirmed(cause string) Step {
	return Step{Done: &Outcome{Verdict: Confirmed, Evidence: cause, Turn: m.turn}}
}

// undecided: the agent has not said that it has the message. That it works,
// and that its composer is empty, says so too: nobody else could type.
func (m *Machine) undecided(s Seen, box *agent.Composer) Step {
	if s.Reading != nil && s.Reading.Composer != nil && s.Reading.Composer.Empty && m.busy != "" {
		return m.confirmed(m.busy + ", and the composer is empty")
	}
	left := box != nil && m.o.Typist.Holds(m.o.Typed, box)
	why := "Enter was pressed, and nothing says that the message was taken"
	if left {
		why = "Enter had no effect: the composer still holds the message"
	}
	return Step{Done: &Outcome{Verdict: Unconfirmed, Code: api.CodeUnconfirmed, Evidence: why, Left: left}}
}

// retire takes back what was typed.
func (m *Machine) retire(s Seen, now time.Time, why string) Step {
	m.enter(retiring, now)
	m.refusal = Outcome{Verdict: Refused, Code: api.CodeAgentBusy, Evidence: why}
	if box := at(s); box != nil && !box.Empty && m.occupied(s) == "" {
		m.refusal.Code = api.CodeDraftPresent // something else was typed at the same time
	}
	m.keys = clearer{}
	return m.takeBack(s, now)
}

func (m *Machine) takeBack(s Seen, now time.Time) Step {
	var box *agent.Composer
	if s.Reading != nil && s.Reading.Dialog == nil {
		box = s.Reading.Composer
	}
	if box != nil && box.Empty && m.keys.pressed > 0 {
		return Step{Done: &m.refusal}
	}
	if m.over(now, takeBackFor) {
		m.refusal.Left = m.keys.pressed > 0 || box != nil && !box.Empty
		return Step{Done: &m.refusal}
	}
	if box == nil || box.Empty || m.keys.pressed == 0 && !m.o.Typist.Holds(m.o.Typed, box) {
		return look() // the echo may be late, and a person's draft is not touched
	}
	key, stuck := m.keys.next(m.o.Typist, box, now)
	if stuck {
		m.refusal.Left = true
		return Step{Done: &m.refusal}
	}
	return write(key)
}

// clearer presses the keys that clear, one at a time.
type clearer struct {
	pressed, stuck int
	text           string // before the last key
	at             time.Time
}

// next is the key to press now, nil to wait; stuck when no key helps.
func (k *clearer) next(t agent.Typist, box *agent.Composer, now time.Time) (key []byte, stuck bool) {
	if box == nil {
		return nil, false
	}
	if k.pressed > 0 {
		if box.Text != k.text {
			k.stuck = 0
		} else if now.Sub(k.at) < clearHolds {
			return nil, false
		} else {
			k.stuck++
		}
	}
	key = t.Clear(box, k.stuck)
	if key == nil || k.pressed >= clearKeys {
		return nil, true
	}
	k.pressed, k.text, k.at = k.pressed+1, box.Text, now
	return key, false
}
