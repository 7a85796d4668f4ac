package files

import (
	"errors"
	"sync"
)

var errNoRoom = errors.New("open files take too much space: close some, or use the verb instead")

// Room shares out the temporary bytes of all clients, by identity. An identity may have as much as it leaves free: the
// first 1 GiB, one beside it 512 MiB, and so on. So one always leaves room for the next, and nothing has to be kept
// back for clients that don't come. Its zero value is ready. It may be used from any goroutine.
type Room struct {
	mu  sync.Mutex
	all int64
	by  map[string]int64
}

// take reserves n bytes, or returns an error if there is no room.
func (r *Room) take(who string, n int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.by[who]+n > aside-r.all-n {
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
