package files

import (
	"errors"
	"sync"
)

var errNoRoom = errors.New("open files take too much space: close some, or use the verb instead")

// Room counts the temporary bytes of all clients, by identity. Its zero value is ready. It may be used
// from any goroutine.
type Room struct {
	mu  sync.Mutex
	all int64
	by  map[string]int64
}

// take reserves n bytes, or returns an error if there is no room.
func (r *Room) take(who string, n int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all+n > aside || r.by[who]+n > largest {
		return errNoRoom
	}
	if r.by == nil {
		r.by = map[string]int64{}
	}
	r.all += n
	r.by[who] += n
	return nil
}

// give releases n bytes.
func (r *Room) give(who string, n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all -= n
	if r.by[who] -= n; r.by[who] <= 0 {
		delete(r.by, who)
	}
}
