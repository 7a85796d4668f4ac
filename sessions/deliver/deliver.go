// Package deliver is the delivery of a message to an agent at its composer. A
// Machine gets what is seen (Seen), the facts (Fact) and the clock, and returns
// which bytes to write next (Step), and at the end what became of the message
// (Outcome). It writes and reads nothing itself. Package outbox runs it.
//
// The rule that it is made for: Enter is pressed only while the screen shows
// that the composer holds what was typed, and nothing else, and no source says
// that the agent has started to work or to ask since. An Enter on a timer would
// answer the dialog that came in between. What was typed and can't be entered is
// taken back, once the composer shows the message and nothing else.
package deliver

import (
	"strings"
	"time"
	"unicode"

	"berth/agent"
	"berth/api"
)

// The times of a delivery. On a machine with nothing else to do it takes 0.3 s; after 5 s others
// may take the lease, and nothing more is typed.
const (
	// How long a frame without composer and dialog, or with a spinner, may take to become one that takes
	// input. At its start an agent reports that it is ready before it has drawn anything: a second
	// before, on a machine with a load of 18.
	settleFor = 2 * time.Second
	// The echo of a paste took 70 to 250 ms, 700 ms on a loaded machine, and more on one with a load of 20.
	echoFor = 3 * time.Second
	// A long text is drawn piece by piece: 240 lines of 10 KB took 3 to 4 s at a load
	// of 24. For each 2 KB of it the echo is given a second more, up to this. An agent that computes and has yet to read
	// the text is given as long for that: Qwen Code took 4 to 7 s after a turn, at a load of 12.
	echoMost = 8 * time.Second
	// UserPromptSubmit follows Enter by 10 to 60 ms. If Enter has no effect for this long, a second one is
	// pressed, once.
	againAfter = time.Second
	// A hook of the user's may delay the message.
	confirmFor = 2500 * time.Millisecond
	// One that draws before it listens may lose Enter on a machine with more to do
	// than it can, or read it late: 3.5 s at a load of 27. It is given as long to listen
	// as it took to draw, within these.
	listensAfter  = 100 * time.Millisecond
	listensWithin = time.Second
	// A screen without a composer for this long isn't a half-drawn one.
	blankFor = 500 * time.Millisecond
	// Before a second Enter, the program must have read the first one and rested for this long since: at
	// a load of 20 Gemini CLI computed for 3 s between reading Enter and drawing its effect. If it is
	// unknown whether the program has read it, three times this long must have passed.
	lostAfter = time.Second
	readFor   = 8 * time.Second
	// A person's last input may not be drawn yet. If there was output after it and that has ended for a
	// moment, the screen counts this long after the input, else after echoFor. No other client types
	// in the meantime.
	drawnAfter = 400 * time.Millisecond
	drawnRest  = 200 * time.Millisecond
	// What a person typed before there was a composer an agent draws into its first one,
	// or later into an empty one: Claude Code after up to 0.28 of the time that it took
	// to draw that, which was 1.4 s of 5.3 s, and 2.3 s of 11.3 s at a load of 32. So it
	// is given half of that time, within these.
	strayFor  = 1500 * time.Millisecond
	strayMost = 5 * time.Second
	// What was typed and is not to be sent is taken back, as soon as the
	// composer shows it.
	takeBackFor = 1500 * time.Millisecond
	clearFor    = 2 * time.Second
	// A key that clears was drawn within this time, or has changed nothing.
	clearHolds = 400 * time.Millisecond
	// The most keys of one clearing: two for each line of a tall composer.
	clearKeys = 100
)

// Options say what is delivered, and how.
type Options struct {
	Typer agent.MessageTyper
	Typed string // the text as it is typed
	Slash bool   // it is a command of the agent's own
	Clear bool   // a draft in the composer is cleared
	Stash bool   // a draft in the composer is put aside, and brought back
	Own   string // a message of ours that an interrupt may have put back: it isn't a draft
	// Flutters says for a source whether its report of work counts only when it has held: until then Seen has
	// no Reading, and nothing is pressed. nil means none.
	Flutters func(agent.Source) bool
	// Typed before, by a delivery that was cut off: a mark in the composer that
	// could stand for it does.
	Cut bool
	// That delivery may have pressed Enter. An empty composer then means that the message may be sent.
	Entered bool
	// No other client has typed since then: also a part of it in the composer is ours.
	Alone bool
	// What was typed before is taken back and not typed again: its caller is gone.
	Withdraw bool
	// Proof is a word that no other process knows. It is typed first if a dialog may be covered.
	Proof string
}

// Verdict is what became of the message.
type Verdict string

// The verdicts.
const (
	Confirmed   Verdict = "confirmed"   // the agent has it
	Unconfirmed Verdict = "unconfirmed" // Enter was pressed, and nothing says that the agent has it
	Refused     Verdict = "refused"     // Enter was not pressed
	Lost        Verdict = "lost"        // the same, since the server ended; it will not be typed again
)

// Outcome is the end of a delivery.
type Outcome struct {
	Verdict  Verdict
	Evidence string    // what says so
	Code     api.Code  // of a verdict that is not Confirmed
	Turn     string    // the agent's id of the turn that took it, where it gives one
	Queued   bool      // the agent keeps it for a turn that has not begun
	Left     bool      // the typed text is still in the composer, or may be
	Stashed  bool      // the draft that was put aside was not seen to come back
	Pasted   bool      // the agent has it, as content that its user did not write
	Unseen   time.Time // when Enter was pressed, if only the screen shows that the agent has it, and no source any work since
}

// Step is what to do now: write these bytes, or nothing, and look again at the
// latest when Wait has passed; or stop, with an outcome.
type Step struct {
	Write []byte
	Wait  time.Duration
	Done  *Outcome
	Draft Draft // what happened to a person's draft, to be reported
}

// phase is how far the delivery is.
type phase int

const (
	begun phase = iota
	clearing
	stashing  // a draft is being put aside
	proving   // a word was typed, to see whether the composer draws it
	typed     // and not echoed yet
	entered   // Enter was pressed
	retiring  // what was typed is being taken back
	returning // the draft is being brought back
)

// Machine is one delivery. It is for one goroutine.
type Machine struct {
	o     Options
	phase phase
	since time.Time // of the phase
	start time.Time

	stir   string // the first report since the start that the agent works or asks
	typing typing // what was typed
	busy   string // the same as stir, since Enter
	empty  bool   // since Enter and that report the composer was seen empty
	worked bool   // since Enter it was seen to work, on a screen that certainly isn't a dialog
	told   bool   // the agent's own word that it has the message
	pasted bool   // the same, but as content that its user did not write
	cause  string
	turn   string
	queued bool
	resent bool
	first  time.Time       // Enter
	entry  time.Time       // of the last Enter
	sent   *agent.Composer // as it was at that
	places int             // where the screen showed the message then, but for the composer
	echoed time.Time       // since when the composer holds the message
	blank  time.Time       // since when neither composer nor dialog is there, after a command
	read   time.Time       // since when the last Enter is read, for certain
	ending Outcome         // that taking back, or bringing back, ends in
	keys   clearer

	draft draft
}

// draft tracks a draft that the composer held before the delivery.
type draft struct {
	stashed  bool      // this delivery put the draft aside
	keyAt    time.Time // when the key that puts the draft aside was pressed
	told     bool      // the screen showed the draft aside, and that was reported
	before   bool      // a draft was already aside when the message was typed; any client may have put it there
	returned bool      // the key that brings the draft back was pressed
}

// New is a delivery that begins now.
func New(o Options, now time.Time) *Machine { return &Machine{o: o, since: now, start: now} }

// Typed says whether the message was typed, so that it may stand in the
// composer.
func (m *Machine) Typed() bool { return m.typing.wrote }

// Entered says whether Enter was pressed.
func (m *Machine) Entered() bool { return !m.entry.IsZero() }

// Fact takes in what a source reports of the conversation.
func (m *Machine) Fact(f agent.Fact) {
	if f.Kind != agent.LevelIs && older(f, m.start) {
		return // a log entry about the turn before
	}
	switch f.Kind {
	case agent.TurnStarted, agent.Queued:
		if f.Agent == "" && m.Entered() && !older(f, m.first) && m.o.Typer.Same(m.o.Typed, f.Text) && !m.told {
			m.told, m.cause, m.turn, m.queued = true, f.Cause, f.Turn, f.Kind == agent.Queued
			return
		}
		if folder, ok := m.o.Typer.(agent.FoldedPasteMatcher); ok && f.Agent == "" && m.Entered() && !m.told && folder.Folded(m.o.Typed, f.Text) {
			m.told, m.pasted, m.cause, m.turn = true, true, f.Cause, f.Turn
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
	flutter := f.Kind == agent.LevelIs && f.Level == agent.LevelBusy && m.o.Flutters != nil && m.o.Flutters(f.Source)
	if m.stir == "" && !flutter {
		m.stir = f.Cause
	}
	if m.Entered() && m.busy == "" {
		m.busy = f.Cause
	}
}

// older says whether the fact is about a time before a moment. Agents give
// their times in milliseconds.
func older(f agent.Fact, moment time.Time) bool {
	return !f.At.IsZero() && f.At.Before(moment.Truncate(time.Millisecond))
}

// Step is what to do, from what is seen now.
func (m *Machine) Step(s Seen, now time.Time) Step {
	switch m.phase {
	case begun:
		return m.begin(s, now)
	case clearing:
		return m.clear(s, now)
	case stashing:
		return m.awaitStash(s, now)
	case proving:
		return m.awaitProof(s, now)
	case typed:
		return m.await(s, now)
	case entered:
		return m.confirm(s, now)
	case retiring:
		return m.takeBack(s, now)
	default:
		return m.bringBack(s, now)
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
		return openDialog
	case m.stir != "":
		return m.stir
	case !s.State.Rests():
		return "it is " + string(s.State)
	}
	return ""
}

const openDialog = "a dialog is open"

const held = "its program is stopped, or another process holds its terminal"

// WhyHalted is why nothing is typed while Seen.Halted is set.
const WhyHalted = "its program is stopped"

// at is the composer that is ready to be typed at; nil when there is none.
func at(s Seen) *agent.Composer {
	if !s.Reading.Bare() {
		return nil
	}
	return s.Reading.Composer
}

func (m *Machine) begin(s Seen, now time.Time) Step {
	switch why := m.occupied(s); {
	case why == openDialog && s.State.Rests() && !m.over(now, settleFor):
		return look() // it is answered, and painted still
	case why != "":
		return refuse(api.CodeAgentBusy, why)
	}
	if m.undrawn(s, now) {
		return look()
	}
	box := at(s)
	switch {
	case s.Halted && m.over(now, settleFor):
		return refuse(api.CodeAgentBusy, WhyHalted)
	case s.Halted:
		return look()
	case box == nil && m.over(now, settleFor):
		return refuse(api.CodeAgentBusy, "its screen shows no composer that is at rest")
	case box == nil:
		return look()
	case box.Empty && m.o.Entered:
		return refuse(api.CodeAgentBusy, "it may have taken the message just now")
	case box.Empty && box.Mode == agent.ModeMessage:
		return m.cleared(s, now)
	case m.o.Withdraw && !m.ours(box):
		return lost()
	case box.Mode != agent.ModeMessage:
		return refuse(api.CodeDraftPresent, "the composer is in "+string(box.Mode)+" mode")
	case m.o.Clear, m.ours(box):
		m.enter(clearing, now)
		return m.clear(s, now)
	case m.o.Stash:
		return m.stash(s, now)
	}
	return refuse(api.CodeDraftPresent, "the composer holds a draft")
}

// undrawn says that what a person typed last may not be on the screen yet.
func (m *Machine) undrawn(s Seen, now time.Time) bool {
	if !s.Typed.IsZero() && s.Typed.Before(s.Composed) && now.Sub(s.Composed) < min(max(strayFor, s.Drew/2), strayMost) {
		m.since = now
		return true
	}
	if m.over(now, echoFor) {
		return false
	}
	if s.Unread > 0 { // from any client: it would come before the message
		return true
	}
	if now.Sub(s.Typed) >= echoFor {
		return false
	}
	return !s.Printed.After(s.Typed) || now.Sub(s.Typed) < drawnAfter || now.Sub(s.Printed) < drawnRest
}

// ours says that the composer holds what we typed ourselves.
func (m *Machine) ours(box *agent.Composer) bool {
	switch {
	case m.o.Own == "":
		return false
	case m.o.Cut:
		return m.o.Typer.Holds(m.o.Own, box) || m.o.Alone && begins(m.o.Own, box)
	}
	return m.o.Typer.Displays(m.o.Own, box)
}

// clear empties the composer, key by key, each once the one before was drawn.
func (m *Machine) clear(s Seen, now time.Time) Step {
	if why := m.occupied(s); why != "" {
		return refuse(api.CodeAgentBusy, why)
	}
	box := at(s)
	if box != nil && box.Empty {
		return m.cleared(s, now)
	}
	key, stuck := m.keys.next(m.o.Typer, box, now)
	if stuck || m.over(now, clearFor) {
		return refuse(api.CodeDraftPresent, "the draft could not be cleared")
	}
	return write(key)
}

// cleared goes on once the composer is empty.
func (m *Machine) cleared(s Seen, now time.Time) Step {
	if m.o.Withdraw {
		return lost()
	}
	return m.paste(s, now)
}

func lost() Step {
	return Step{Done: &Outcome{Verdict: Lost, Code: api.CodeUnconfirmed, Evidence: "the server ended before the message was sent; it was not sent, and nothing of it is left in the composer"}}
}

// begins says that the composer shows the beginning of a message, as a delivery
// leaves it that was cut off while it typed or took back.
func begins(typed string, box *agent.Composer) bool {
	if box == nil || box.Empty || box.Mode != agent.ModeMessage {
		return false
	}
	shown := shownOf(box.Text)
	return shown != "" && strings.HasPrefix(shownOf(typed), shown)
}

// shownOf is what of a text a screen shows wherever it breaks lines.
func shownOf(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.In(r, unicode.Cf, unicode.Mn, unicode.Me) {
			return -1
		}
		return r
	}, text)
}

func write(data []byte) Step {
	step := look()
	step.Write = data
	return step
}

func (m *Machine) paste(s Seen, now time.Time) Step {
	data, ok := m.o.Typer.Paste(m.o.Typed, s.Paste)
	switch {
	case s.Unpasted:
		return refuse(api.CodeAgentBusy, unpasted)
	case !ok:
		return refuse(api.CodeNotReady, noPaste)
	case s.Covered && m.typing.proven: // a dialog came and went since
		return refuse(api.CodeAgentBusy, unproven)
	case s.Covered:
		return m.prove(s, now)
	}
	m.typing.text, m.typing.wrote, m.draft.before = m.o.Typed, true, s.Reading.Stashed
	m.enter(typed, now)
	return write(data)
}

// await waits for the echo, and presses Enter on it.
func (m *Machine) await(s Seen, now time.Time) Step {
	if why := m.occupied(s); why != "" {
		return m.retire(s, now, why)
	}
	if s.Covered { // a dialog came and went since the message was typed
		return m.retire(s, now, unproven)
	}
	switch {
	case !m.holds(s, at(s)):
		m.echoed = time.Time{}
	case m.echoed.IsZero():
		m.echoed = now
	}
	if !m.echoed.IsZero() && m.over(now, m.o.Typer.Pause()) && !s.Held {
		if m.listens(now) {
			return m.press(s, now)
		}
		return look()
	}
	switch unread := s.Unread > 0 && s.Computes; {
	case unread && now.Sub(m.start) < echoMost:
		m.since = now // it draws what it has read
		return look()
	case unread:
		return m.retire(s, now, "it has not read what was typed")
	case s.Held && m.over(now, m.echoWithin()):
		return m.retire(s, now, held)
	}
	if m.over(now, m.echoWithin()) || m.over(now, drawnAfter) && m.mixed(at(s)) {
		return m.retire(s, now, "the composer did not show what was typed")
	}
	return look()
}

func (m *Machine) echoWithin() time.Duration {
	return min(echoFor+time.Duration(len(m.o.Typed)/2048)*time.Second, echoMost)
}

// listens says that the agent has had time to listen since it has drawn.
func (m *Machine) listens(now time.Time) bool {
	if _, ok := m.o.Typer.(agent.LineBreakDetector); !ok {
		return true
	}
	return now.Sub(m.echoed) >= min(max(listensAfter, m.echoed.Sub(m.since)), listensWithin)
}

// mixed says that the composer has other text together with the message: a person's late input, and only
// a person can separate the two.
func (m *Machine) mixed(box *agent.Composer) bool {
	return box != nil && len(box.Text) > len(m.o.Typed) && strings.Contains(box.Text, m.o.Typed) && !m.o.Typer.Holds(m.o.Typed, box)
}

const noPaste = "its terminal takes no paste, and the text has several lines"
