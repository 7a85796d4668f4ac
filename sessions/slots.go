package sessions

import (
	"context"
	"sync"

	"berth/sessions/account"
)

// looksAtOnce bounds how many folders git reads at once for sessions of one OS user: after a start of the server all
// sessions are due.
const looksAtOnce = 2

// looks are the slots of each OS user. One user's filters can keep git for as long as it may run, so the sessions of
// others don't wait for these. Users are few, so none is forgotten. The zero value is ready to use.
type looks struct {
	mu    sync.Mutex
	slots map[int]chan struct{} // by uid
}

// ownLooks has the slots of the sessions that run as the server's user.
const ownLooks = -1

// enter waits for a slot of the user's. The caller calls leave at the look's end.
func (l *looks) enter(ctx context.Context, user *account.User) (leave func(), err error) {
	uid := ownLooks
	if user != nil {
		uid = user.UID
	}
	l.mu.Lock()
	if l.slots == nil {
		l.slots = map[int]chan struct{}{}
	}
	slots := l.slots[uid]
	if slots == nil {
		slots = make(chan struct{}, looksAtOnce)
		l.slots[uid] = slots
	}
	l.mu.Unlock()
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
