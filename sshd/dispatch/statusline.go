package dispatch

import "sync"

// statusLines keeps who wants the status line in attached sessions, as long as the server runs. Its zero
// value is ready; its methods may be called concurrently.
type statusLines struct {
	mu sync.Mutex
	on map[string]bool // by person
}

// statusLinesKept is the maximum of persons to remember: more than have keys on any server.
const statusLinesKept = 1000

func (s *statusLines) shown(person string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.on[person]
}

func (s *statusLines) show(person string, on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !on:
		delete(s.on, person)
		return
	case s.on == nil || len(s.on) >= statusLinesKept:
		s.on = map[string]bool{}
	}
	s.on[person] = true
}
