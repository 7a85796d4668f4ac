package sshd

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"berth/api"
)

const (
	// loginBytes bounds what a client sends before its login: a key exchange takes
	// 3 KiB, each of limits.AuthTries keys 2 KiB, a large certificate 8 KiB.
	loginBytes = 64 << 10
	// loginPacket bounds one packet before the login: RFC 4253, 6.1, has every
	// implementation take this many bytes. x/crypto takes 256 KiB.
	loginPacket = 35_000
	// sweepEvery is after how many received bytes all channels of a connection are read, also those
	// without a reading call: their unread bytes stay below this.
	sweepEvery = 256 << 10
	// openingMost is how many channels of a connection may wait to be accepted or refused, in addition
	// to its open ones. A client that doesn't read the answers leaves a goroutine for each.
	openingMost = 64
)

// unreadPatience is how long a connection with too much unread input waits for its readers: many
// large inputs at once may come before it.
const unreadPatience = time.Second

// backlog counts what a connection has received and may still hold unread. x/crypto buffers up to
// 2 MiB per channel, in packets as small as the client likes, and has no setting for it. So bytes
// are counted when they come from the network, and subtracted when they are read from a channel.
// The remainder is packet overhead; it is forgotten when all readers of the connection wait for
// more.
type backlog struct {
	busy   atomic.Int32  // readers and writers with work left: what has come may be held
	total  int64         // bytes received; the reading goroutine's
	swept  int64         // total at the last sweep; likewise
	sweep  func()        // has all channels read
	exceed func()        // ends the connection
	less   chan struct{} // rings when held has become less

	share atomic.Pointer[share] // nil before the login; written under mu, as held is
	held  atomic.Int64          // bytes that count

	mu    sync.Mutex
	old   int64     // of held, received before since
	since time.Time // when old was begun
}

// settleFrom is from how many bytes on forgetting is worth its time; a verb takes some 400.
const settleFrom = 16 << 10

// deliverTime is the longest time from receiving bytes until the channel's reader has seen them:
// they pass three goroutines.
const deliverTime = 100 * time.Millisecond

// begin says that a reader has data that it hasn't passed on, or that a write waits.
func (b *backlog) begin() { b.busy.Add(1) }

// end reverts begin.
func (b *backlog) end() {
	if b.busy.Add(-1) == 0 {
		b.settle()
	}
}

// settle forgets old received bytes, unless some of them may still be held.
func (b *backlog) settle() {
	if b.held.Load() < settleFrom || b.busy.Load() != 0 {
		return
	}
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	if now.Sub(b.since) >= deliverTime {
		b.take(b.old)
		b.old, b.since = b.held.Load(), now
	}
}

// passed says that n bytes of what was received are no longer held.
func (b *backlog) passed(n int) {
	if n > 0 {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.take(int64(n))
	}
}

// take is passed; the caller holds b.mu.
func (b *backlog) take(n int64) {
	n = min(n, b.held.Load())
	b.held.Add(-n)
	b.old = max(0, b.old-n)
	if s := b.share.Load(); s != nil {
		s.unread.Add(-n)
	}
	wake(b.less)
}

// forget ends the counting when the connection has ended.
func (b *backlog) forget() { b.passed(math.MaxInt) }

// owner is the share that the bytes count against; nil before the login.
func (b *backlog) owner() *share { return b.share.Load() }

// own makes s the owner.
func (b *backlog) own(s *share) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if before := b.share.Swap(s); before != nil {
		before.unread.Add(-b.held.Load())
	}
	s.unread.Add(b.held.Load())
}

// ahead says whether p may be read into. It is called before each read.
func (b *backlog) ahead(p []byte) error {
	if b.owner() == nil && (len(p) > loginPacket || b.total > loginBytes) {
		return errBeforeLogin
	}
	b.settle()
	return nil
}

var errBeforeLogin = fmt.Errorf("more than %d bytes before the login, or a packet of more than %d", loginBytes, loginPacket)

// received counts n bytes. It returns false when the connection must receive no more.
func (b *backlog) received(n int) bool {
	b.total += int64(n)
	b.mu.Lock()
	b.held.Add(int64(n))
	s := b.share.Load()
	if s != nil {
		s.unread.Add(int64(n))
	}
	b.mu.Unlock()
	if s == nil {
		return true
	}
	if b.total-b.swept >= sweepEvery {
		b.swept = b.total
		b.sweep()
	}
	if b.tooMuch(s) {
		return b.wait(s)
	}
	return true
}

// tooMuch says that s is exceeded and that this connection holds more than its part.
func (b *backlog) tooMuch(s *share) bool {
	return s.unread.Load() > s.all.unread && b.held.Load()*int64(s.connections.Load()) > s.all.unread
}

// wait stops receiving until the received input is read. It returns false if that takes too long;
// the connection then ends.
func (b *backlog) wait(s *share) bool {
	patience := time.NewTimer(unreadPatience)
	defer patience.Stop()
	look := time.NewTicker(deliverTime / 2)
	defer look.Stop()
	for b.tooMuch(s) {
		select {
		case <-b.less:
		case <-look.C:
			b.settle()
		case <-patience.C:
			b.exceed()
			return false
		}
	}
	return true
}

// standardInput is a call's input for a verb that collects all of it. Bytes that were read still
// count as unread until the call ends.
type standardInput struct {
	*Input
	share *share
	taken atomic.Int64
}

func (s *standardInput) Read(p []byte) (int, error) {
	n, err := s.Input.Read(p)
	s.taken.Add(int64(n))
	if s.share.unread.Add(int64(n)) > s.share.all.unread {
		return n, api.Errorf(api.CodeLimit, "your calls hold more than %d MiB of unused standard input: make fewer calls at once", s.share.all.unread>>20)
	}
	return n, err
}

func (s *standardInput) release() { s.share.unread.Add(-s.taken.Swap(0)) }
