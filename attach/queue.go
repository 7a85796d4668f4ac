package attach

import (
	"sync"
	"sync/atomic"
	"time"
)

// QueueLimit is how many bytes of output a client may lag before it is
// repainted: several times what a terminal draws in a frame, and small beside
// a session's own memory.
const QueueLimit = 512 << 10

// queueKeep is the buffer a quiet queue keeps.
const queueKeep = 16 << 10

// Queue takes the output stream for one client. Push never waits: when the
// client is too far behind, all that is queued is dropped, the queue is lagging
// and takes nothing more until Start. One goroutine pushes, one takes.
type Queue struct {
	limit int
	share *Share // of the client's caller; nil: no other bound
	ready chan struct{}

	mu      sync.Mutex
	pending []byte
	spare   []byte // the buffer handed out before, to be filled next
	running bool
	lagged  bool

	straight func(p []byte) bool // takes p at once or not at all; nil: all is queued

	echoed func(time.Duration) // is called with the time from a key to the next output; nil: not measured
	keyAt  atomic.Int64        // when the first key without output after it came, since epoch; 0: there is none
}

// epoch makes times of the monotonic clock numbers.
var epoch = time.Now()

// mostEcho is the longest time that counts as an echo: a program that prints so late answers something else.
const mostEcho = 10 * time.Second

// NewQueue makes a queue that holds QueueLimit bytes. It takes nothing before
// Start.
func NewQueue() *Queue { return newQueue(QueueLimit) }

func newQueue(limit int) *Queue {
	return &Queue{limit: limit, ready: make(chan struct{}, 1)}
}

// Start empties the queue and lets it take what is pushed from now on.
func (q *Queue) Start() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.share.give(len(q.pending))
	q.pending, q.running, q.lagged = q.pending[:0], true, false
}

// typed starts the time to the next output, unless an earlier key has.
func (q *Queue) typed() {
	if q.echoed != nil && q.keyAt.Load() == 0 {
		q.keyAt.Store(int64(time.Since(epoch)))
	}
}

// Push appends p, which it copies: whole sequences only, so that what Take
// gives may be followed by sequences of the client's own.
func (q *Queue) Push(p []byte) {
	if len(p) == 0 {
		return
	}
	q.push(p)
	q.printed()
}

// printed ends the time from a key: output is on its way to the client.
func (q *Queue) printed() {
	if q.echoed == nil || q.keyAt.Load() == 0 {
		return
	}
	at := q.keyAt.Swap(0)
	if took := time.Since(epoch) - time.Duration(at); at != 0 && took <= mostEcho {
		q.echoed(took)
	}
}

func (q *Queue) push(p []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.running {
		return
	}
	if q.straight != nil && len(q.pending) == 0 && q.straight(p) {
		return
	}
	if len(q.pending)+len(p) > q.limit || !q.share.take(len(p)) {
		q.lagLocked()
		return
	}
	q.pending = append(q.pending, p...)
	q.signal()
}

// Straight has what is pushed offered to a function first, which takes it at
// once or not at all and must not wait; nil ends that. What is queued goes
// before it.
func (q *Queue) Straight(to func(p []byte) bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.straight = to
}

// Lag drops what is queued and marks the queue lagging, as an overflow does:
// what follows is not for the screen that the client has, as after a resize.
func (q *Queue) Lag() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.running {
		q.lagLocked()
	}
}

func (q *Queue) lagLocked() {
	q.share.give(len(q.pending))
	q.pending, q.spare = nil, nil
	q.running, q.lagged = false, true
	q.signal()
}

// Stop drops what is queued and takes nothing more until Start.
func (q *Queue) Stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.share.give(len(q.pending))
	q.pending, q.spare = nil, nil
	q.running, q.lagged = false, false
}

// Take gives all that is queued, or nil and whether the queue is lagging. The
// bytes are the caller's until the next Take.
func (q *Queue) Take() (p []byte, lagged bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.pending) == 0 {
		return nil, q.lagged
	}
	p = q.pending
	q.share.give(len(p))
	q.pending, q.spare = q.spare[:0], p
	if cap(p) > queueKeep && len(p) < cap(p)/8 {
		q.spare = nil // a flood is over: give its memory back
	}
	return p, false
}

// Ready holds one signal when there may be something to take.
func (q *Queue) Ready() <-chan struct{} { return q.ready }

func (q *Queue) signal() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}
