package sshd

import (
	"errors"
	"io"
	"sync"
)

// outputChunk is how much is gathered for one write to a channel: writes of 4 KiB run at 365 MB/s,
// those of 32 KiB (the largest packet) at 1,550.
const outputChunk = 32 << 10

var chunks = sync.Pool{New: func() any { return new([outputChunk]byte) }}

// output gathers writes while an earlier one is running. A single write is sent at once. Writes that
// come faster than the connection takes them are sent together. When a chunk is full, Write waits.
type output struct {
	w io.Writer

	mu      sync.Mutex
	changed sync.Cond // any of the below changed
	chunk   *[outputChunk]byte
	n       int  // bytes in chunk
	running bool // the flusher is running
	writing bool
	closed  bool
	err     error
}

var errOutputClosed = errors.New("the call has ended")

func newOutput(w io.Writer) *output {
	o := &output{w: w}
	o.changed.L = &o.mu
	return o
}

// Write takes all of p, or returns the error of an earlier write.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	done := 0
	for done < len(p) {
		if o.err != nil {
			return done, o.err
		}
		if o.closed {
			return done, errOutputClosed
		}
		if o.n == outputChunk {
			o.changed.Wait()
			continue
		}
		done += o.put(p[done:])
	}
	return done, nil
}

// TryWrite takes all of p without waiting, or nothing.
func (o *output) TryWrite(p []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil || o.closed || o.n+len(p) > outputChunk {
		return false
	}
	o.put(p)
	return true
}

// put takes as much as there is room for.
func (o *output) put(p []byte) int {
	if o.chunk == nil {
		o.chunk = chunks.Get().(*[outputChunk]byte)
	}
	n := copy(o.chunk[o.n:], p)
	o.n += n
	if !o.running {
		o.running = true
		go o.flush()
	}
	o.changed.Broadcast()
	return n
}

// flush writes gathered output until the output is closed. It takes each chunk over, so that an idle
// session holds no buffer.
func (o *output) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		for o.n == 0 && !o.closed && o.err == nil {
			o.changed.Wait()
		}
		if o.n == 0 || o.err != nil {
			o.running = false
			o.changed.Broadcast()
			return
		}
		chunk, n := o.chunk, o.n
		o.chunk, o.n, o.writing = nil, 0, true
		o.changed.Broadcast()
		o.mu.Unlock()
		_, err := o.w.Write(chunk[:n])
		chunks.Put(chunk)
		o.mu.Lock()
		o.writing = false
		if err != nil {
			o.err = err
		}
		o.changed.Broadcast()
	}
}

// Flush waits until nothing is left to write.
func (o *output) Flush() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for (o.n > 0 || o.writing) && o.err == nil {
		o.changed.Wait()
	}
	return o.err
}

// close flushes and ends the flusher. Later writes fail.
func (o *output) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.changed.Broadcast()
	for o.running {
		o.changed.Wait()
	}
	return o.err
}

// errorOutput is a session's standard error. It is unbuffered, and writes after everything that was
// written to standard output before. Its lock also separates concurrent writes; x/crypto has no lock
// for that.
type errorOutput struct {
	mu  sync.Mutex
	out *output
	w   io.Writer
}

func (e *errorOutput) Read([]byte) (int, error) { return 0, io.EOF }

func (e *errorOutput) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.out.Flush(); err != nil {
		return 0, err
	}
	return e.w.Write(p)
}
