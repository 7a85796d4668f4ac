package files

import (
	"errors"
	"sync"
)

var errNoRoom = errors.New("too much lies aside for files that are open: close some, or read it by the verb instead")

// Room counts what lies aside for all clients, by whose it is. Its zero value
// is ready. It may be used from any goroutine.
type Room struct {
	mu  sync.Mutex
	all int64
	by  map[string]int64
}

// take counts n bytes in, or says that there is no room for them.
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

// give counts n bytes out.
func (r *Room) give(who string, n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all -= n
	if r.by[who] -= n; r.by[who] <= 0 {
		delete(r.by, who)
	}
}
