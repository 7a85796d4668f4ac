package tui

import (
	"maps"
	"sync"
)

// Memory keeps what people have seen between their visits, for as long as the
// server lives. Its zero value is ready; its methods may be called concurrently.
type Memory struct {
	mu   sync.Mutex
	seen map[string]map[string]uint64 // by person, by session
}

// people is how many persons' visits are kept: more than have keys anywhere.
const people = 1000

// Of gives a person's states seen, as a copy.
func (m *Memory) Of(person string) map[string]uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.seen[person])
}

// Keep takes in what a person has seen in a visit, of sessions that still are.
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
