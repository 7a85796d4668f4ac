package attach

import "sync"

// ShareLimit is how many bytes of output may be queued for all terminals of one caller together. A queue
// that would go beyond overflows. It is enough for 32 full queues.
const ShareLimit = 32 * QueueLimit

// Shares are the queued bytes of each caller. The zero value is empty.
type Shares struct {
	mu sync.Mutex
	of map[string]*Share
}

// Share is what is queued for the terminals of one caller. All methods of a nil Share do nothing.
type Share struct {
	mu        sync.Mutex
	bytes     int
	terminals int // under Shares.mu
}

// Join counts a terminal of a caller until leave. Its queue must be stopped by then.
func (s *Shares) Join(who string) (one *Share, leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[string]*Share{}
	}
	one = s.of[who]
	if one == nil {
		one = &Share{}
		s.of[who] = one
	}
	one.terminals++
	return one, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if one.terminals--; one.terminals == 0 {
			delete(s.of, who)
		}
	}
}

// take counts n bytes, or none if they are too many.
func (s *Share) take(n int) bool {
	if s == nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bytes+n > ShareLimit {
		return false
	}
	s.bytes += n
	return true
}

func (s *Share) give(n int) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes -= n
}
