package hold

import (
	"fmt"
	"os"
	"runtime"
	"time"
)

// turnEvery is how long draining may keep the processor to itself.
const turnEvery = 250 * time.Microsecond

// turn lets the holder's other goroutines run while output streams.
//
// The holder keeps to one processor (GOMAXPROCS 1), because the runtime's
// search for work on a second one costs more than it gives: a fifth of the
// throughput on two cores. But on one processor the runtime asks the kernel
// for news only when no goroutine can run, or every 10 ms, and draining can
// always run while output streams: input would wait. So draining puts a byte
// into a pipe of the poller's and sleeps until that has been found, and with
// it all else that was ready.
type turn struct {
	r, w *os.File
	back chan struct{}
	last time.Time
}

func newTurn() (*turn, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("opening a pipe: %w", err)
	}
	return &turn{r: r, w: w, back: make(chan struct{}, 1)}, nil
}

// serve hands the processor back until close.
func (t *turn) serve() {
	var b [1]byte
	for {
		if _, err := t.r.Read(b[:]); err != nil {
			return
		}
		t.back <- struct{}{}
	}
}

// yield lets everything that is ready run, if the last time is a while ago.
// Draining that has just waited for output has let them run.
func (t *turn) yield(now time.Time, waited bool) {
	if waited {
		t.last = now
	}
	if now.Sub(t.last) < turnEvery {
		return
	}
	t.last = now
	if _, err := t.w.Write([]byte{0}); err != nil {
		return
	}
	<-t.back
	runtime.Gosched() // after those that were found with the byte
}

// close ends serve; no goroutine yields any more.
func (t *turn) close() {
	t.w.Close()
}
