// Package groom decides when Berth itself answers what an agent asks before its
// first composer, as a machine over what is asked and a clock. It writes and
// reads nothing.
package groom

import "time"

const (
	// Settles is how long an answer has to take effect before it is tried again:
	// until then nobody else may answer either.
	Settles = 4 * time.Second
	// Again is the time between two tries of an answer that was not given, such
	// as while somebody writes.
	Again = time.Second
	// Most is how often an answer is given to one prompt.
	Most = 2
	// kept bounds the prompts remembered: a start asks some eight.
	kept = 32
)

// Seen is what is asked now.
type Seen struct {
	Prompt string // id of the prompt on the screen, empty for none
	Wanted bool   // the session has an answer to it
	Busy   bool   // it is being answered, by whomever
}

// Action is what to do.
type Action int

// The actions.
const (
	Nothing Action = iota
	Answer         // give the answer
	Leave          // tell that it is left to somebody
)

// Machine remembers what was tried. Its zero value is ready, its JSON is kept
// over a server's end.
type Machine struct {
	Tries []Try `json:"tries"`
}

// Try is what was tried of one prompt.
type Try struct {
	Prompt string    `json:"prompt"`
	Given  int       `json:"given"` // times that the answer was given, or could not be
	Last   time.Time `json:"last"`  // when
	After  time.Time `json:"after"` // no sooner
	Left   bool      `json:"left"`
}

// Step says what to do now, and when to ask again at the latest; a zero time:
// when something changes.
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

// Given takes in that the answer was given, or that there is no way to.
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
