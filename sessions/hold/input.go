package hold

import (
	"encoding/json"
	"errors"
	"os"
	"runtime/debug"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// queueBytes and queueOps bound what waits to be typed; beyond either a
	// message is refused whole.
	queueBytes = 8 << 20
	queueOps   = 512
	// overtakeAfter is how long the program may read nothing before a signal
	// or a resize goes ahead of the input it does not read.
	overtakeAfter = time.Second
	// releaseAfter is how much input makes it worth giving memory back.
	releaseAfter = 256 << 10
)

type opKind byte

const (
	opInput opKind = iota
	opReply
	opResize
	opSignal
)

// op is one thing to do to the program. Ops happen in the order they came.
type op struct {
	kind       opKind
	data       []byte
	typed      bool  // opInput: the answer may wait for the echo
	by         int64 // opInput: the monotonic time after which it isn't typed; 0 for none
	at         int64 // opReply: where the query ended
	cols, rows int
	sig        syscall.Signal
	mark       json.RawMessage
	id         uint32
	from       *serverConn // to be answered when it is done
}

// inputQueue holds the ops that wait, and counts the bytes of the one being
// typed too.
type inputQueue struct {
	ops   []op
	bytes int
}

// push refuses what goes beyond the bounds.
func (q *inputQueue) push(o op) bool {
	if len(q.ops) >= queueOps || q.bytes+len(o.data) > queueBytes {
		return false
	}
	q.ops = append(q.ops, o)
	q.bytes += len(o.data)
	return true
}

func (q *inputQueue) pop() op {
	o := q.ops[0]
	q.ops[0] = op{}
	q.ops = q.ops[1:]
	if len(q.ops) == 0 {
		q.ops = nil
	}
	return o
}

// takeUrgent removes the ops that may overtake unread input.
func (q *inputQueue) takeUrgent() []op {
	var urgent, rest []op
	for _, o := range q.ops {
		if o.kind == opSignal || o.kind == opResize {
			urgent = append(urgent, o)
		} else {
			rest = append(rest, o)
		}
	}
	q.ops = rest
	return urgent
}

// marks lists what will be typed and has no record yet.
func (q *inputQueue) marks() []json.RawMessage {
	var marks []json.RawMessage
	for _, o := range q.ops {
		if o.kind == opInput && len(o.mark) > 0 {
			marks = append(marks, o.mark)
		}
	}
	return marks
}

// enqueue adds an op for its sender.
func (h *holder) enqueue(o op) ackCode {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.typing.over:
		return ackEnded
	case h.server != o.from:
		return ackBad // another server has taken over since
	case o.kind == opReply && !h.wantReply(o.at):
		return ackDone
	case !h.typing.queue.push(o):
		return ackBusy
	}
	if o.kind == opReply {
		h.answered = o.at
	}
	h.moved.Broadcast()
	return ackDone
}

// wantReply reports whether the query that ended at offset at is neither
// answered nor too old.
func (h *holder) wantReply(at int64) bool {
	return at > h.answered && at > h.recent.before(time.Now()) && at <= h.written
}

// typeInput does the ops one after the other until the program has ended.
func (h *holder) typeInput() {
	defer close(h.typing.done)
	typed := 0
	for {
		o, ok := h.nextOp()
		if !ok {
			return
		}
		switch o.kind {
		case opResize, opSignal:
			h.act(o)
		default:
			err := h.typeBytes(o.data)
			h.typed(o, err)
			typed += len(o.data)
		}
		o = op{}
		if typed >= releaseAfter && h.idle() {
			typed = 0
			debug.FreeOSMemory()
		}
	}
}

// idle reports whether nothing waits to be typed.
func (h *holder) idle() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.typing.queue.ops) == 0
}

// nextOp waits for an op and records input and replies in the same step, so
// that at any moment a message is either in the queue or in the log.
func (h *holder) nextOp() (op, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		for len(h.typing.queue.ops) == 0 && !h.typing.over {
			h.moved.Wait()
		}
		if h.typing.over {
			h.refuseQueue()
			return op{}, false
		}
		o := h.typing.queue.pop()
		switch o.kind {
		case opInput:
			if now, err := monotonic(); o.by > 0 && (err != nil || now > o.by) {
				h.typing.queue.bytes -= len(o.data)
				h.ack(o.from, o.id, ackLate, "")
				continue
			}
			h.recordLocked(KindInput, InputData{Bytes: len(o.data), Mark: o.mark})
		case opReply:
			if o.at <= h.recent.before(time.Now()) { // it waited too long
				h.typing.queue.bytes -= len(o.data)
				continue
			}
			h.recordLocked(KindReply, ReplyData{At: o.at, Bytes: len(o.data)})
		}
		return o, true
	}
}

// refuseQueue answers what will never be typed.
func (h *holder) refuseQueue() {
	for _, o := range h.typing.queue.ops {
		if o.kind == opInput {
			h.ack(o.from, o.id, ackEnded, "")
		}
	}
	h.typing.queue = inputQueue{}
}

// typed answers an input that is written, or cannot be.
func (h *holder) typed(o op, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.typing.queue.bytes -= len(o.data)
	if o.kind != opInput {
		return
	}
	if err != nil {
		h.ack(o.from, o.id, ackEnded, err.Error())
		return
	}
	if o.typed {
		h.ackSoon(o.from, o.id)
		return
	}
	h.ack(o.from, o.id, ackDone, "")
}

// typeBytes writes one message to the PTY, whole. While the program reads
// nothing, signals and resizes that wait after it go ahead.
func (h *holder) typeBytes(p []byte) error {
	for len(p) > 0 {
		n, err := h.pty.write(p, overtakeAfter)
		p = p[n:]
		switch {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded):
			h.mu.Lock()
			urgent, over := h.typing.queue.takeUrgent(), h.typing.over
			h.mu.Unlock()
			if over {
				return ErrEnded
			}
			for _, o := range urgent {
				h.act(o)
			}
		case h.ended():
			return err
		default:
			// The program closed its terminal and may open it again.
			select {
			case <-h.ending.exited:
				return err
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
	return nil
}

// act does a resize or a signal and records it.
func (h *holder) act(o op) {
	if o.kind == opResize {
		if err := h.pty.resize(o.cols, o.rows); err != nil {
			return
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.size.cols, h.size.rows = o.cols, o.rows
		h.recordLocked(KindResize, ResizeData{Cols: o.cols, Rows: o.rows, Mark: o.mark})
		return
	}
	group, err := h.pty.foreground()
	if err != nil || group <= 1 {
		if h.ended() {
			return
		}
		group = h.child.pid
	}
	if err := syscall.Kill(-group, o.sig); err != nil {
		return
	}
	h.record(KindSignal, SignalData{Signal: unix.SignalName(o.sig), Mark: o.mark})
}
