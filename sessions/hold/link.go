package hold

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// requestWithin bounds how long the holder may take to accept a message. It
// reads its socket at all times, so that only a stopped one takes long.
const requestWithin = 10 * time.Second

// Link is a server's connection to one holder. ReadOutput and ReadControl
// belong to one goroutine; all else may be called from any.
type Link struct {
	dir     string
	conn    *socket
	welcome Welcome
	output  *Output
	control *Control

	wake    chan struct{}
	done    chan struct{}
	written atomic.Int64
	told    atomic.Int64 // what the holder last heard to be consumed
	last    atomic.Uint64

	writing sync.Mutex // one frame at a time

	mu      sync.Mutex
	nextID  uint32
	waiting map[uint32]func(error) // called under mu, once
	err     error
	ended   bool // done is closed
	exit    *Exit
	// memory is output that reached no file: memoryAt is its first offset.
	memory   []byte
	memoryAt int64
	records  []Record // control records that were in no file
}

// newLink serves a connection that has been welcomed.
func newLink(dir string, c *socket, r *bufio.Reader, w Welcome) *Link {
	l := &Link{
		dir:     dir,
		conn:    c,
		welcome: w,
		output:  OpenOutput(dir),
		control: OpenControl(dir, 0),
		wake:    make(chan struct{}, 1),
		done:    make(chan struct{}),
		waiting: make(map[uint32]func(error)),
	}
	l.written.Store(w.Written)
	l.told.Store(w.Written)
	l.last.Store(w.Control)
	l.notify() // there may be something to read already
	go l.receive(r)
	return l
}

// Welcome is what the holder said when it took this server on.
func (l *Link) Welcome() Welcome { return l.welcome }

// Wake is sent to when there may be new output or control records, and when
// the link has ended. It holds one wake. Its receiver reads both to their
// ends and calls Consumed. A record of input or of a reply is announced with the
// echo, or 10 ms later if there is none.
func (l *Link) Wake() <-chan struct{} { return l.wake }

// Done is closed when the link is over; Err says why.
func (l *Link) Done() <-chan struct{} { return l.done }

// Err is nil while the link works. Then it is ErrEnded when the holder reported
// the program's end (Exit), ErrReplaced, ErrClosed, or ErrNoAnswer when the
// connection was lost: Dial says what became of the holder.
func (l *Link) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Exit is how the program ended, once the holder has reported it.
func (l *Link) Exit() (Exit, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.exit == nil {
		return Exit{}, false
	}
	return *l.exit, true
}

// Written is the offset of the next byte of output as far as is known here,
// and the number of the last control record.
func (l *Link) Written() (offset int64, control uint64) {
	return l.written.Load(), l.last.Load()
}

// Close ends the link and leaves the holder running.
func (l *Link) Close() error {
	l.fail(ErrClosed)
	return nil
}

// fail ends the link for the first reason given.
func (l *Link) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	l.ended, l.err = true, err
	for id, answer := range l.waiting {
		answer(err)
		delete(l.waiting, id)
	}
	l.conn.Close()
	close(l.done)
	l.notify()
}

func (l *Link) notify() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// receive reads what the holder sends until the connection ends.
func (l *Link) receive(r *bufio.Reader) {
	for {
		t, payload, err := readFrame(r)
		if err == nil {
			err = l.handle(t, payload)
		} else {
			err = fmt.Errorf("%w: its connection ended: %w", ErrNoAnswer, err)
		}
		if err != nil {
			l.fail(err)
			return
		}
	}
}

// handle takes one frame. An error ends the link.
func (l *Link) handle(t frameType, p []byte) error {
	switch t {
	case frameWake:
		_, err := l.progress(p)
		l.notify()
		runtime.Gosched() // who reads the output goes first: the next frame is a while away
		return err
	case frameAck:
		id, code, text, err := decodeAck(p)
		if err != nil {
			return err
		}
		l.answered(id, ackError(code, text))
	case frameBytes:
		at, data, err := decodeOffset(p)
		if err != nil {
			return err
		}
		l.keepBytes(at, data)
	case frameRecord:
		r, err := decodeRecord(p)
		if err != nil {
			return err
		}
		l.mu.Lock()
		l.records = append(l.records, r)
		l.mu.Unlock()
		l.notify()
	case frameExit:
		return l.takeExit(p)
	case frameBye:
		var why refusal
		if err := json.Unmarshal(p, &why); err != nil {
			return fmt.Errorf("decode a farewell: %w", err)
		}
		if why.Code == refuseReplaced {
			return ErrReplaced
		}
		return fmt.Errorf("%w: %s", ErrRefused, why.Message)
	}
	return nil // a type this version does not know
}

// progress takes the two counters at the front of a frame.
func (l *Link) progress(p []byte) (rest []byte, err error) {
	written, p, err := decodeOffset(p)
	if err != nil {
		return nil, err
	}
	last, p, err := decodeNumber(p)
	if err != nil {
		return nil, err
	}
	l.written.Store(written)
	l.last.Store(last)
	return p, nil
}

// takeExit ends the link with the program.
func (l *Link) takeExit(p []byte) error {
	body, err := l.progress(p)
	if err != nil {
		return err
	}
	var exit Exit
	if err := json.Unmarshal(body, &exit); err != nil {
		return fmt.Errorf("decode an exit: %w", err)
	}
	l.mu.Lock()
	l.exit = &exit
	l.mu.Unlock()
	return ErrEnded
}

// answered hands an acknowledgement to the caller that waits for it.
func (l *Link) answered(id uint32, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if answer, ok := l.waiting[id]; ok {
		answer(err)
		delete(l.waiting, id)
	}
}

// keepBytes holds output that is in no file until it is consumed. The holder
// sends at most pauseInline beyond what was consumed.
func (l *Link) keepBytes(at int64, data []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at != l.memoryAt+int64(len(l.memory)) {
		l.memory, l.memoryAt = nil, at
	}
	l.memory = append(l.memory, data...)
}

// Consumed says that the output was read up to offset. The holder waits when
// it is too far ahead of that, and sends the next wake at once if there is
// more. As long as it is within its credit it gets no message.
func (l *Link) Consumed(offset int64) {
	l.mu.Lock()
	if n := offset - l.memoryAt; n > 0 && len(l.memory) > 0 {
		l.memory = slices.Clone(l.memory[min(n, int64(len(l.memory))):])
		l.memoryAt = max(l.memoryAt, offset)
	}
	l.mu.Unlock()
	// Checked after the reading: a wake that comes later and uses the credit
	// up has its own Consumed.
	if l.written.Load()-l.told.Load() <= l.welcome.Credit && offset-l.told.Load() <= l.welcome.Credit && l.welcome.Credit > 0 {
		return
	}
	l.told.Store(max(offset, 0))
	l.send(appendFrame(nil, frameConsumed, encodeNumbers(uint64(max(offset, 0)))))
}

// Pace asks the holder to send wakes for output alone at most once in each
// pace, in the long run: no client waits for this session. 0 is as they come. A
// holder that is too old goes on as it did.
func (l *Link) Pace(pace time.Duration) {
	if l.welcome.Credit > 0 {
		l.send(appendFrame(nil, framePace, encodeNumbers(uint64(pace.Milliseconds()))))
	}
}

// send writes one frame. A frame that cannot be sent whole ends the link:
// what the holder has of it is nothing.
func (l *Link) send(frame []byte) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	n, err := l.conn.stream.TryWrite(frame)
	if err == nil && n < len(frame) { // only then a timer is worth its time
		l.conn.SetWriteDeadline(time.Now().Add(requestWithin))
		_, err = l.conn.Write(frame[n:])
		l.conn.SetWriteDeadline(time.Time{})
	}
	if err != nil {
		l.fail(fmt.Errorf("%w: send to it: %w", ErrNoAnswer, err))
		return l.Err()
	}
	return nil
}

// ask sends a request and waits for its answer.
func (l *Link) ask(ctx context.Context, t frameType, q request, data []byte) error {
	if len(q.Mark) > maxMark {
		return fmt.Errorf("%w: a mark of %d bytes", ErrTooLarge, len(q.Mark))
	}
	answer := make(chan error, 1)
	l.mu.Lock()
	if l.ended {
		defer l.mu.Unlock()
		return l.err
	}
	l.nextID++
	q.ID = l.nextID
	l.waiting[q.ID] = func(err error) { answer <- err }
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.waiting, q.ID)
		l.mu.Unlock()
	}()
	head, err := encodeRequest(q)
	if err != nil {
		return err
	}
	if len(head)+len(data) > maxPayload {
		return fmt.Errorf("%w: %d bytes", ErrTooLarge, len(head)+len(data))
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := l.send(appendFrame(nil, t, head, data)); err != nil {
		return err
	}
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// askSoon is ask for what the holder answers at once.
func (l *Link) askSoon(t frameType, q request) error {
	return l.askSoonWith(t, q, nil)
}

// askSoonWith is askSoon with data after the request.
func (l *Link) askSoonWith(t frameType, q request, data []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), requestWithin)
	defer cancel()
	err := l.ask(ctx, t, q, data)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: no acknowledgement", ErrNoAnswer)
	}
	return err
}

// Input types data, at most MaxInput bytes, as one message: whole, in order,
// nothing in between. It returns when the program's terminal has taken all of
// it. ErrBusy and ErrEnded mean that it was not typed; with any other error,
// ctx's included, it may have been or may still be. The mark, at most 4 KiB of
// JSON, goes into the control record.
func (l *Link) Input(ctx context.Context, data []byte, mark json.RawMessage) error {
	if len(data) > MaxInput {
		return fmt.Errorf("%w: %d bytes of input", ErrTooLarge, len(data))
	}
	return l.ask(ctx, frameInput, request{Mark: mark}, data)
}

// Reply types the answer to a terminal query that ended at offset at of the
// output. The holder drops it when a query at or after at was answered
// before, when the query is older than a second, or when its queue is full.
func (l *Link) Reply(data []byte, at int64) {
	if at < 0 || len(data) > MaxInput {
		return
	}
	l.send(appendFrame(nil, frameReply, encodeNumbers(uint64(at)), data))
}

// Resize sets the size, in order with input; it returns when the holder has
// taken it on.
func (l *Link) Resize(cols, rows int, mark json.RawMessage) error {
	if err := checkSize(cols, rows); err != nil {
		return err
	}
	return l.askSoon(frameResize, request{Cols: cols, Rows: rows, Mark: mark})
}

// Signal sends sig to the foreground process group, in order with input; it
// returns when the holder has taken it on. When the program reads no input
// for a second, signals and resizes go ahead of it.
func (l *Link) Signal(sig syscall.Signal, mark json.RawMessage) error {
	return l.askSoon(frameSignal, request{Sig: int(sig), Mark: mark})
}

// End sends SIGHUP to the program's process group and, after grace, SIGKILL
// to its whole tree. It returns when the SIGHUP is sent; Done reports the end.
// A second call can only shorten the grace.
func (l *Link) End(grace time.Duration, mark json.RawMessage) error {
	return l.askSoon(frameEnd, request{Grace: grace.Milliseconds(), Mark: mark})
}

// Note writes a record of the server's own into the control log.
func (l *Link) Note(kind string, data json.RawMessage) error {
	return l.askSoon(frameNote, request{Kind: kind, Data: data})
}

// ReadOutput is Output.ReadAt with the bytes that a failing disk kept out of
// the files, as long as they are not consumed. It works after Done too.
func (l *Link) ReadOutput(p []byte, off int64) (int, error) {
	// Taken first: bytes below it are in a file, were sent before it, or are
	// lost.
	written := l.written.Load()
	over := l.over()
	if n := l.readMemory(p, off); n > 0 {
		return n, nil
	}
	if n, err := l.output.readOpen(p, off); n > 0 || err != nil {
		return n, err
	}
	if off >= written && !over {
		return 0, io.EOF
	}
	n, err := l.output.ReadAt(p, off)
	next := written
	var trimmed *TrimmedError
	switch {
	case errors.As(err, &trimmed):
		next = trimmed.First
	case !errors.Is(err, io.EOF) || off >= written:
		return n, err
	}
	return 0, &TrimmedError{First: l.firstInMemory(off, next)}
}

func (l *Link) over() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

func (l *Link) readMemory(p []byte, off int64) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if off < l.memoryAt || off >= l.memoryAt+int64(len(l.memory)) {
		return 0
	}
	return copy(p, l.memory[off-l.memoryAt:])
}

// firstInMemory is next, or where the memory begins if that is between off
// and next.
func (l *Link) firstInMemory(off, next int64) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.memory) > 0 && l.memoryAt > off && l.memoryAt < next {
		return l.memoryAt
	}
	return next
}

// ReadControl calls fn for each record numbered above after, in order, those
// included that a failing disk keeps out of the files. Going on from the last
// record given out costs only what is new.
func (l *Link) ReadControl(after uint64, fn func(Record) error) error {
	if l.control.Last() != after {
		l.control.Close()
		l.control = OpenControl(l.dir, after)
	}
	// Taken before the files are read: a record that moves from here to a
	// file in between is seen in at least one of them.
	l.mu.Lock()
	records := slices.Clone(l.records)
	l.mu.Unlock()
	if err := l.control.readTo(l.last.Load(), fn); err != nil {
		return err
	}
	for _, r := range records {
		if r.N <= l.control.last {
			continue
		}
		l.control.last = r.N
		if err := fn(r); err != nil {
			return err
		}
	}
	l.mu.Lock()
	l.records = slices.Clip(slices.DeleteFunc(l.records, func(r Record) bool { return r.N <= l.control.last }))
	l.mu.Unlock()
	return nil
}

// CloseFiles frees the journal files that reading holds open. They are opened
// again when needed.
func (l *Link) CloseFiles() {
	l.output.Close()
	l.control.Close()
}
