package hold

import (
	"os"
	"runtime"
	"time"
)

const (
	// pauseAhead is how far the output may run ahead of a living server.
	pauseAhead = 16 << 20
	// pauseInline is the same while output goes over the socket for want of
	// a disk: it bounds the memory on both sides.
	pauseInline = 1 << 20
	// stillFor is how long the holder waits for a server that reads nothing at
	// all, such as one that was stopped: a program must not stand still with
	// it. One that works, however slowly, reads some 64 KiB in milliseconds.
	stillFor = 5 * time.Second
	// readSize is the most taken from the PTY at once. The kernel gives at
	// most 4 KiB a read; more of them share a write to the journal.
	readSize = 64 << 10
)

// drain reads the PTY to its end.
func (h *holder) drain() {
	defer close(h.drained)
	defer h.turn.close()
	buf := make([]byte, readSize)
	limited := false
	for {
		h.waitForServer()
		if failing := h.output.failing(); failing || limited {
			limited = failing
			var until time.Time
			if failing {
				until = time.Now().Add(retryEvery)
			}
			h.pty.f.SetReadDeadline(until)
		}
		if h.stop.Load() {
			return
		}
		n, err := h.pty.read(buf)
		switch {
		case n > 0:
			now := time.Now()
			h.take(buf[:n], now)
			if n <= echoSize {
				runtime.Gosched() // the goroutine that wakes the server goes first
			}
			h.output.noteTime()
			h.turn.yield(now, h.pty.waited)
		case os.IsTimeout(err):
			if h.output.retry(time.Now()) {
				h.setInline(false)
			}
		case h.ended():
			return
		default:
			// The program closed its terminal and lives: it may open it again.
			select {
			case <-h.ending.exited:
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
}

// ended reports whether the program itself has ended.
func (h *holder) ended() bool {
	select {
	case <-h.ending.exited:
		return true
	default:
		return false
	}
}

// take puts a piece of output into the journal, or what of it does not go
// there onto the socket, and notifies the server.
func (h *holder) take(p []byte, now time.Time) {
	n := h.output.write(p, now)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.inline = h.output.failing()
	if s := h.server; s != nil && n < len(p) {
		s.out = appendFrame(s.out, frameBytes, encodeNumbers(uint64(h.written)+uint64(n)), p[n:])
	}
	h.written += int64(len(p))
	h.recent.add(now, h.written)
	h.wake()
}

func (h *holder) setInline(inline bool) {
	h.mu.Lock()
	h.inline = inline
	h.mu.Unlock()
}

// waitForServer holds the reading back while a server is connected that reads
// and is too far behind. Without one, and once the program has ended, it never
// waits. A server that doesn't read counts as none until it reads again:
// it finds the output in the journal, as the next one would.
func (h *holder) waitForServer() {
	h.mu.Lock()
	defer h.mu.Unlock()
	var wake *time.Timer
	for began := time.Now(); h.lags(); h.moved.Wait() {
		s := h.server
		heard := began
		if s.heard.After(began) {
			heard = s.heard
		}
		still := time.Since(heard)
		if still >= stillFor && !h.inline { // what goes over the socket is bounded by waiting alone
			s.still = true
			return
		}
		if wake == nil {
			wake = time.AfterFunc(stillFor-still, h.moved.Broadcast)
			defer wake.Stop()
		} else {
			wake.Reset(max(stillFor-still, time.Millisecond))
		}
	}
}

// lags says whether a server is connected that reads, and has fallen too far back. The caller holds the
// holder's mu.
func (h *holder) lags() bool {
	if h.server == nil || h.typing.over {
		return false
	}
	ahead := int64(pauseAhead)
	if h.inline {
		ahead = pauseInline
	} else if h.server.still {
		return false
	}
	return h.written-h.server.consumed >= ahead
}

// lost records output that reached no file.
func (h *holder) lost(from, to int64, why string) {
	h.record(KindLoss, LossData{From: from, To: to, Why: why})
}

// staleness knows the end of the output a second ago.
type staleness struct {
	marks []mark
}

type mark struct {
	at     time.Time
	offset int64
}

// replyWithin is how long after a query its answer may still be typed.
const replyWithin = time.Second

func (s *staleness) reset(offset int64) {
	s.marks = append(s.marks[:0], mark{offset: offset})
}

// add notes that the output reached offset now. A mark stands for up to 10 ms:
// what came with it counts as old by as much too early.
func (s *staleness) add(now time.Time, offset int64) {
	if last := &s.marks[len(s.marks)-1]; now.Sub(last.at) < markEvery {
		last.offset = offset
		return
	}
	s.before(now)
	s.marks = append(s.marks, mark{now, offset})
}

// before is the offset below which all output is older than replyWithin. It
// forgets the marks before that.
func (s *staleness) before(now time.Time) int64 {
	i := 0
	for i+1 < len(s.marks) && now.Sub(s.marks[i+1].at) >= replyWithin {
		i++
	}
	s.marks = append(s.marks[:0], s.marks[i:]...)
	return s.marks[0].offset
}
