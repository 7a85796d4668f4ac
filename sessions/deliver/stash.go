package deliver

import (
	"time"

	"berth/agent"
	"berth/api"
)

// Draft is what a step has seen become of a person's draft.
type Draft string

// What becomes of a draft.
const (
	DraftStashed Draft = "stashed"  // it was put aside
	DraftBack    Draft = "restored" // it is in the composer again
)

const (
	// The key that puts a draft aside was drawn within 60 ms on a quiet machine.
	stashFor = 2 * time.Second
	// The agent itself brings the draft back when it has the message, at once.
	returnsWithin = time.Second
	returnFor     = 2 * time.Second
)

// stash begins to put a draft aside.
func (m *Machine) stash(s Seen, now time.Time) Step {
	stasher, ok := m.o.Typer.(agent.DraftStasher)
	if !ok {
		return refuse(api.CodeDraftPresent, "the composer holds a draft, which this agent cannot put aside")
	}
	key, why := stasher.Stash(s.Reading)
	if key == nil {
		return refuse(api.CodeDraftPresent, why)
	}
	if _, ok := m.o.Typer.Paste(m.o.Typed, s.Paste); !ok {
		return refuse(api.CodeNotReady, noPaste)
	}
	m.enter(stashing, now)
	m.draft.keyAt = now
	return write(key)
}

// awaitStash waits until the screen shows that the draft is put aside, and types
// the message then.
func (m *Machine) awaitStash(s Seen, now time.Time) Step {
	box, why := at(s), m.occupied(s)
	switch {
	case why != "":
		m.ending = Outcome{Verdict: Refused, Code: api.CodeAgentBusy, Evidence: why}
	case box != nil && showsStash(s.Reading):
		m.draft.stashed, m.draft.told = true, true
		step := m.paste(s, now)
		step.Draft = DraftStashed
		return step
	case m.over(now, stashFor):
		m.ending = Outcome{Verdict: Refused, Code: api.CodeDraftPresent, Evidence: "the draft could not be put aside"}
	default:
		return look()
	}
	m.draft.stashed = true // the key was sent, so the draft will be put aside if it is not yet
	return m.end(s, now, m.ending)
}

// showsStash says that the screen shows an empty composer and a draft put aside.
func showsStash(r *agent.Reading) bool {
	return r != nil && r.Dialog == nil && r.Composer != nil && r.Composer.Mode == agent.ModeMessage && r.Composer.Empty && r.Stashed
}

// isBack says that it shows a draft, and none put aside.
func isBack(r *agent.Reading) bool {
	return r != nil && r.Dialog == nil && r.Composer != nil && !r.Composer.Empty && !r.Stashed
}

// Stashed says that a draft was put aside and not seen to come back.
func (m *Machine) Stashed() bool { return m.draft.stashed }

// SeenStashed says that a draft was seen put aside: the key for it has had its
// effect.
func (m *Machine) SeenStashed() bool { return m.draft.told }

// Stashing says that a draft is put aside, or about to be.
func (m *Machine) Stashing() bool { return m.draft.stashed || m.phase == stashing }

// end ends the delivery, once the draft that was put aside is back.
func (m *Machine) end(s Seen, now time.Time, o Outcome) Step {
	if !m.draft.stashed {
		return Step{Done: &o}
	}
	m.ending = o
	m.enter(returning, now)
	return m.bringBack(s, now)
}

// bringBack presses the key that brings the draft back, once, and only into an
// empty composer: with another text in it the key would put that in the draft's
// place.
func (m *Machine) bringBack(s Seen, now time.Time) Step {
	step := look()
	switch {
	case isBack(s.Reading) && (m.draft.told || now.Sub(m.draft.keyAt) >= stashFor): // earlier the screen may not show the key's effect yet
		m.draft.stashed = false
		step.Done = &m.ending
	case m.over(now, returnFor):
		m.ending.Stashed = true
		step.Done = &m.ending
	case showsStash(s.Reading) && !s.Asks && !m.draft.returned && (m.ending.Verdict != Confirmed || m.over(now, returnsWithin)):
		m.draft.returned = true
		step.Write = m.o.Typer.(agent.DraftStasher).Unstash() // it has put one aside
	}
	step.Draft = m.news(s.Reading)
	return step
}

// news is what happened to the draft and wasn't reported yet.
func (m *Machine) news(r *agent.Reading) Draft {
	switch {
	case showsStash(r) && !m.draft.told:
		m.draft.told = true
		return DraftStashed
	case isBack(r) && m.draft.told:
		return DraftBack
	}
	return ""
}

// Return is the bringing back of a draft that an earlier delivery has put aside;
// t is an agent.DraftStasher.
func Return(t agent.MessageTyper, now time.Time) *Machine {
	m := New(Options{Typer: t}, now)
	m.draft.stashed, m.draft.told, m.phase = true, true, returning
	m.ending = Outcome{Verdict: Refused}
	return m
}
