package tui

import (
	"maps"
	"sync"
)

// Choices are a person's settings of the dashboard.
type Choices struct {
	NoMouse bool     `json:"no_mouse,omitempty"` // the terminal keeps its mouse
	Advance bool     `json:"advance,omitempty"`  // after an answer, the next session that needs input is selected
	By      grouping `json:"by"`
	Mixed   bool     `json:"mixed,omitempty"` // at a fleet's gateway: By holds, instead of groups by host
}

// Change sets what a dashboard has changed. A person may have several dashboards, and each may change another
// setting.
func (c *Choices) Change(was, now Choices) {
	if now.NoMouse != was.NoMouse {
		c.NoMouse = now.NoMouse
	}
	if now.Advance != was.Advance {
		c.Advance = now.Advance
	}
	if now.By != was.By {
		c.By = now.By
	}
	if now.Mixed != was.Mixed {
		c.Mixed = now.Mixed
	}
}

// Memory keeps which states people have seen between their visits, as long as the server runs. Its zero
// value is ready; its methods may be called concurrently.
type Memory struct {
	mu   sync.Mutex
	seen map[string]map[string]uint64 // by person, by session
}

// people is the maximum of persons to remember: more than have keys on any server.
const people = 1000

// Of returns a copy of the states that a person has seen.
func (m *Memory) Of(person string) map[string]uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.seen[person])
}

// Keep stores what a person has seen in a visit, for sessions that still exist.
func (m *Memory) Keep(person string, seen map[string]uint64, still func(id string) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.seen == nil || len(m.seen) >= people && m.seen[person] == nil {
		m.seen = map[string]map[string]uint64{}
	}
	of := m.seen[person]
	if of == nil {
		of = map[string]uint64{}
		m.seen[person] = of
	}
	for id, seq := range seen {
		of[id] = max(of[id], seq) // a visit at another terminal may have seen more
	}
	maps.DeleteFunc(of, func(id string, _ uint64) bool { return !still(id) })
}
