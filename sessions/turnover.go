package sessions

import (
	"sync"
	"time"

	"berth/sessions/loop"
)

// These bound the events that one caller's calls cause over all sessions. They apply to events
// that are not paced: a start, a message and a gate each change a session, so each has an event
// of its own. At some 500 bytes an event, a caller in a loop fills 8 MiB of the log's 256 MiB at
// once, and the rest in 36 hours. That is enough to start 1,000 sessions at once; a message
// each half second is more than agents answer.
const (
	eventsAtOnce = 16 << 10
	eventEvery   = 250 * time.Millisecond
)

// The cost of a call in events. A start includes the end and the removal of the session, and a
// message includes its removal from the queue.
const (
	eventsOfStart   = 8
	eventsOfMessage = 2
	eventsOfGate    = 1
)

// turnover bounds the events of each caller. The zero value is ready to use.
type turnover struct {
	mu      sync.Mutex
	callers map[turnoverOf]*loop.Allowance
}

type turnoverOf struct{ identity, fingerprint string }

// take counts n events of a caller. If there are too many, it returns how long the caller must
// wait.
func (t *turnover) take(by By, n int, now time.Time) (wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.callers == nil {
		t.callers = map[turnoverOf]*loop.Allowance{}
	}
	who := turnoverOf{by.Identity, by.Fingerprint}
	one := t.callers[who]
	if one == nil {
		if len(t.callers) >= loop.IdentitiesKept {
			for other, a := range t.callers {
				if a.Rested(now) {
					delete(t.callers, other)
				}
			}
		}
		a := loop.Full(eventsAtOnce, eventEvery, now)
		one = &a
		t.callers[who] = one
	}
	return one.TakeSome(n, now)
}
