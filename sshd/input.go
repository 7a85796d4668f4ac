package sshd

import (
	"context"
	"io"
	"sync"
)

// inputBuffer is how much of a client's input waits for a reader here. What
// comes on top waits in the SSH channel, whose window is 2 MiB.
const inputBuffer = 64 << 10

// Input is what a client sends, in order. Many may read it one after the
// other: a read that is given up takes nothing with it, so that the next
// reader gets the next byte. Reads at the same time each get some of the bytes.
type Input struct {
	source io.Reader
	ended  <-chan struct{} // the channel is gone: what is buffered is given up

	start   sync.Once
	pumping sync.WaitGroup
	mu      sync.Mutex
	data    []byte
	err     error
	fresh   chan struct{} // there is data, or the end
	space   chan struct{} // a reader has made room
}

func newInput(source io.Reader, ended <-chan struct{}) *Input {
	return &Input{source: source, ended: ended, fresh: make(chan struct{}, 1), space: make(chan struct{}, 1)}
}

// Read waits for input; io.EOF is the client's end of it.
func (in *Input) Read(p []byte) (int, error) { return in.ReadContext(context.Background(), p) }

// ReadContext is Read until ctx ends. Then it returns ctx's cause and has
// taken nothing.
func (in *Input) ReadContext(ctx context.Context, p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	in.start.Do(func() { in.pumping.Go(in.pump) })
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

// Ready holds one signal when there may be something for TryRead. It is for
// the one reader there is at the time.
func (in *Input) Ready() <-chan struct{} {
	in.start.Do(func() { in.pumping.Go(in.pump) })
	return in.fresh
}

// TryRead is Read that does not wait: false says that there is nothing yet.
func (in *Input) TryRead(p []byte) (n int, err error, ok bool) { return in.take(p) }

// Reader gives the input to one reader until ctx ends, which it is told as
// io.EOF.
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

// take moves buffered bytes into p. It is false when there is nothing yet.
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
	if len(in.data) == 0 {
		in.data = nil
	} else {
		wake(in.fresh)
	}
	wake(in.space)
	return n, nil, true
}

// pump reads the channel ahead of the readers. It ends with the channel.
func (in *Input) pump() {
	p := make([]byte, 4<<10)
	for {
		n, err := in.source.Read(p)
		in.mu.Lock()
		in.data = append(in.data, p[:n]...)
		in.err = err
		full := len(in.data) >= inputBuffer
		in.mu.Unlock()
		wake(in.fresh)
		if err != nil {
			return
		}
		if n == len(p) && len(p) < 32<<10 {
			p = make([]byte, 32<<10) // not typing: a paste or a file
		}
		for full {
			select {
			case <-in.space:
			case <-in.ended:
				in.mu.Lock()
				in.err = io.EOF
				in.mu.Unlock()
				wake(in.fresh)
				return
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
