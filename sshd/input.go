package sshd

import (
	"context"
	"io"
	"sync"
)

// inputBuffer is how many bytes of a client's input wait here for a reader. More input waits in the
// SSH channel, whose window is 2 MiB.
const inputBuffer = 64 << 10

// Sizes of a read. A full buffer means that there may be more, so these are one byte longer than what
// clients send.
const (
	smallRead = 4<<10 + 1
	largeRead = 32<<10 + 1
)

// Input is what a client sends, in order. Several readers may read it one after another: a canceled
// read takes no bytes, so the next reader gets the next byte. Concurrent reads each get some of the
// bytes.
type Input struct {
	source  io.Reader
	aside   io.Reader       // extended data
	ended   <-chan struct{} // the call is over: the buffer is dropped
	backlog *backlog        // counts the bytes until they are read

	start      sync.Once
	startAside sync.Once
	pumping    sync.WaitGroup
	mu         sync.Mutex
	data       []byte
	err        error
	discard    bool          // input is dropped
	more       bool          // the source may have more already
	busy       bool          // the backlog knows of unread bytes here
	fresh      chan struct{} // there is data, or the end
	space      chan struct{} // a reader has made room
}

func newInput(source, aside io.Reader, ended <-chan struct{}, b *backlog) *Input {
	return &Input{source: source, aside: aside, ended: ended, backlog: b, fresh: make(chan struct{}, 1), space: make(chan struct{}, 1)}
}

// Read waits for input; io.EOF is the client's end of input.
func (in *Input) Read(p []byte) (int, error) { return in.ReadContext(context.Background(), p) }

// ReadContext is Read until ctx ends. Then it returns ctx's cause and takes nothing.
func (in *Input) ReadContext(ctx context.Context, p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	in.readAhead()
	for {
		if err := context.Cause(ctx); err != nil {
			return 0, err
		}
		if n, err, ok := in.take(p); ok {
			return n, err
		}
		select {
		case <-in.fresh:
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}

// Ready holds one signal when TryRead may have bytes. It is for the current reader.
func (in *Input) Ready() <-chan struct{} {
	in.readAhead()
	return in.fresh
}

// readAhead starts reading the source, if no read is running.
func (in *Input) readAhead() { in.start.Do(func() { in.pumping.Go(in.pump) }) }

// readAll reads everything, also where no call reads.
func (in *Input) readAll() {
	in.readAhead()
	in.startAside.Do(func() { in.pumping.Go(in.skip) })
}

// skip throws away extended data, which has no meaning from a client to a server.
func (in *Input) skip() {
	p := make([]byte, 4<<10)
	for {
		n, err := in.aside.Read(p)
		in.backlog.passed(n)
		if err != nil {
			return
		}
	}
}

// Discard drops all input from now on: the call takes none.
func (in *Input) Discard() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.discard = true
	in.empty()
}

// empty drops the buffer. The caller holds in.mu.
func (in *Input) empty() {
	in.backlog.passed(len(in.data))
	in.data = nil
	in.mark()
	wake(in.space)
}

// drop ends the counting, after the pump's end.
func (in *Input) drop() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.more = false
	in.empty()
}

// mark reports to the backlog whether bytes are unread here. The caller holds in.mu.
func (in *Input) mark() {
	busy := in.more || len(in.data) > 0
	switch {
	case busy && !in.busy:
		in.backlog.begin()
	case !busy && in.busy:
		in.backlog.end()
	}
	in.busy = busy
}

// TryRead is a Read that doesn't wait; false means that there is nothing yet.
func (in *Input) TryRead(p []byte) (n int, err error, ok bool) { return in.take(p) }

// Reader returns the input as an io.Reader for one reader. It returns io.EOF after ctx ends.
func (in *Input) Reader(ctx context.Context) io.Reader { return inputReader{in, ctx} }

type inputReader struct {
	in  *Input
	ctx context.Context
}

func (r inputReader) Read(p []byte) (int, error) {
	n, err := r.in.ReadContext(r.ctx, p)
	if err != nil && r.ctx.Err() != nil {
		err = io.EOF
	}
	return n, err
}

// take moves buffered bytes into p. It returns false when there is nothing yet.
func (in *Input) take(p []byte) (int, error, bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.data) == 0 {
		if in.err != nil {
			wake(in.fresh) // for any other reader
			return 0, in.err, true
		}
		return 0, nil, false
	}
	n := copy(p, in.data)
	in.data = in.data[n:]
	in.backlog.passed(n)
	if len(in.data) == 0 {
		in.data = nil
		in.mark()
	} else {
		wake(in.fresh)
	}
	wake(in.space)
	return n, nil, true
}

// Unread puts bytes back at the front, for the next reader.
func (in *Input) Unread(p []byte) {
	if len(p) == 0 {
		return
	}
	in.mu.Lock()
	in.data = append(append([]byte{}, p...), in.data...)
	in.mark()
	in.mu.Unlock()
	wake(in.fresh)
}

// pump reads the channel ahead of the readers. It ends with the channel; input after the end of the
// call is read and dropped.
func (in *Input) pump() {
	p := make([]byte, smallRead)
	for {
		n, err := in.source.Read(p)
		in.mu.Lock()
		if in.err == nil {
			in.err = err
		}
		in.more = n == len(p) && err == nil
		if in.discard {
			in.backlog.passed(n)
		} else {
			in.data = append(in.data, p[:n]...)
		}
		in.mark()
		full := len(in.data) >= inputBuffer
		in.mu.Unlock()
		wake(in.fresh)
		if err != nil {
			return
		}
		if n == len(p) && len(p) < largeRead {
			p = make([]byte, largeRead) // not typing: a paste or a file
		}
		for full {
			select {
			case <-in.space:
			case <-in.ended:
				in.mu.Lock()
				in.err = io.EOF
				in.mu.Unlock()
				in.Discard()
				wake(in.fresh)
			}
			in.mu.Lock()
			full = len(in.data) >= inputBuffer
			in.mu.Unlock()
		}
	}
}

// wake leaves one value in a channel of capacity one.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
