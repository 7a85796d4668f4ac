// Package groom decides when Berth itself answers a startup prompt: a dialog that
// an agent shows before its first composer. It is a state machine over the open
// prompt and a clock. It does no I/O. The session's loop calls it.
package groom

import "time"

const (
	// Settles is how long an answer has to take effect before it is tried again.
	// Until then no client may answer either.
	Settles = 4 * time.Second
	// Again is the time between two tries of an answer that could not be given,
	// such as while a client types.
	Again = time.Second
	// Most is how often an answer is given to one prompt.
	Most = 2
	// kept bounds the prompts remembered. A start shows about eight.
	kept = 32
)

// Seen is what the agent asks now.
type Seen struct {
	Prompt string // id of the prompt on the screen, empty for none
	Wanted bool   // the session has an answer to it
	Busy   bool   // an answer is on its way, from Berth or from a client
}

// Action is what to do.
type Action int

// The actions.
const (
	Nothing Action = iota
	Answer         // give the answer
	Leave          // report that a person has to answer
)

// Machine remembers what was tried. Its zero value is ready to use. The session's
// checkpoint keeps its JSON for the next server.
type Machine struct {
	Tries []Try `json:"tries"`
}

// Try is what was tried of one prompt.
type Try struct {
	Prompt string    `json:"prompt"`
	Given  int       `json:"given"` // how often the answer was given, or had no way to be given
	Last   time.Time `json:"last"`  // the time of the last of them
	After  time.Time `json:"after"` // the earliest time of the next try
	Left   bool      `json:"left"`  // Berth has given up: a person has to answer
}

// Step returns what to do now, and when to call it again at the latest. The zero
// time means: when something changes.
func (m *Machine) Step(s Seen, now time.Time) (Action, time.Time) {
	if s.Prompt == "" || !s.Wanted || s.Busy {
		return Nothing, time.Time{}
	}
	t := m.of(s.Prompt)
	switch {
	case t.Left:
		return Nothing, time.Time{}
	case t.Given > 0 && now.Before(t.Last.Add(Settles)):
		return Nothing, t.Last.Add(Settles)
	case t.Given >= Most:
		t.Left = true
		return Leave, time.Time{}
	case now.Before(t.After):
		return Nothing, t.After
	}
	t.After = now.Add(Again)
	return Answer, t.After
}

// Given records that the answer was given, or that there is no way to give it.
func (m *Machine) Given(prompt string, at time.Time) {
	t := m.of(prompt)
	t.Given, t.Last = t.Given+1, at
}

// Count is how often the answer was given.
func (m *Machine) Count(prompt string) int { return m.of(prompt).Given }

func (m *Machine) of(prompt string) *Try {
	for i := range m.Tries {
		if m.Tries[i].Prompt == prompt {
			return &m.Tries[i]
		}
	}
	if len(m.Tries) >= kept {
		m.Tries = append([]Try(nil), m.Tries[1:]...)
	}
	m.Tries = append(m.Tries, Try{Prompt: prompt})
	return &m.Tries[len(m.Tries)-1]
}
