// Package ship sends the audit log's lines elsewhere, each at least once and in order.
//
// The log itself is the backlog: a Shipper keeps the number of the last line that the other side took,
// reads the lines after it in batches, sends a batch until the other side has taken it, and only then
// writes the number down. So a kill of either side loses no line; what was under way comes again, and
// a line's number (n) says so. Lines that the log's own bounds removed before they were sent are
// lost: that is logged, with their count.
//
// One goroutine does all of it, from Start to Close. Nothing waits for it: the log grows without it.
package ship

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"
)

const (
	// mostLines and mostBytes bound a batch: one with mostBytes gets no further line.
	mostLines = 500
	mostBytes = 256 << 10
	// patience is the first pause after a failure. Each further one is twice as long, up to mostPatience.
	patience     = time.Second
	mostPatience = time.Minute
)

// Options are what a Shipper works with.
type Options struct {
	// After reads the lines after a number.
	After func(n uint64) Lines
	// Grew is sent to when there may be new lines. It holds one wake.
	Grew <-chan struct{}
	// Send returns nil when the other side has taken the lines.
	Send func(ctx context.Context, lines [][]byte) error
	// File keeps the number and the hash of the last line that was taken.
	File string
	Log  *slog.Logger
	// Wait is time.After, but for tests.
	Wait func(time.Duration) <-chan time.Time
}

// Lines are the lines of the log in order: see audit.Reader.
type Lines interface {
	Next() (n uint64, line []byte, err error)
	Close()
}

// Status is how shipping does.
type Status struct {
	Sent uint64 // number of the last line that the other side took
	Lost uint64 // lines that were removed from the log before they were sent, since the server's start
	Err  error  // of the last try; nil if it succeeded
	// Begun says that another log was found at the start than the one that was shipped before: it was removed,
	// or replaced.
	Begun bool
}

// Shipper sends until it is closed.
type Shipper struct {
	o      Options
	cancel context.CancelFunc
	done   chan struct{}

	mu sync.Mutex
	st Status
}

// Start goes on after the last line that was taken; the first time it begins with the oldest line that
// the log has.
func Start(o Options) (*Shipper, error) {
	if o.Wait == nil {
		o.Wait = time.After
	}
	sent, err := readPosition(o.File)
	if err != nil {
		return nil, err
	}
	st := Status{Sent: sent.Sent}
	if err := sent.begunAgain(o.After); err != nil {
		o.Log.Error("the audit log isn't the one that was shipped before: it is shipped from its oldest line", "error", err)
		st.Sent, st.Begun = 0, true
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Shipper{o: o, cancel: cancel, done: make(chan struct{}), st: st}
	go func() {
		defer close(s.done)
		s.run(ctx)
	}()
	return s, nil
}

// Close returns when its goroutine has ended. What is left is sent after the next start.
func (s *Shipper) Close() {
	s.cancel()
	<-s.done
}

// Status is safe for concurrent use.
func (s *Shipper) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.st
}

func (s *Shipper) run(ctx context.Context) {
	lines := s.o.After(s.st.Sent)
	defer lines.Close()
	for ctx.Err() == nil {
		b, err := s.gather(lines)
		if err == nil && len(b.lines) > 0 {
			err = s.send(ctx, b)
		}
		if ctx.Err() != nil {
			return
		}
		if err != nil { // of reading: the next try begins where this one did
			s.ended(err)
			lines.Close()
			lines = s.o.After(s.Status().Sent)
			wait(ctx, s.o.Wait(patience))
			continue
		}
		if len(b.lines) == 0 {
			wait(ctx, s.o.Grew)
		}
	}
}

// wait waits for one of a timer and a ring, whatever they send.
func wait[T any](ctx context.Context, ready <-chan T) {
	select {
	case <-ctx.Done():
	case <-ready:
	}
}

// batch is what is sent at once.
type batch struct {
	lines [][]byte
	last  uint64 // number of the last line
}

// gather reads a batch, which is empty at the end of the log.
func (s *Shipper) gather(from Lines) (b batch, err error) {
	b.last = s.Status().Sent
	for size := 0; len(b.lines) < mostLines && size < mostBytes; {
		n, line, err := from.Next()
		if errors.Is(err, io.EOF) {
			return b, nil
		}
		if err != nil {
			return b, err
		}
		if n > b.last+1 {
			s.lost(n - b.last - 1)
		}
		b.lines, b.last, size = append(b.lines, bytes.Clone(line)), n, size+len(line)
	}
	return b, nil
}

// send sends a batch until the other side takes it.
func (s *Shipper) send(ctx context.Context, b batch) error {
	for pause := patience; ; pause = min(2*pause, mostPatience) {
		err := s.o.Send(ctx, b.lines)
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s.ended(err)
		wait(ctx, s.o.Wait(pause))
	}
	if err := writePosition(s.o.File, position{b.last, hashOf(b.lines[len(b.lines)-1])}); err != nil {
		return err
	}
	s.mu.Lock()
	s.st.Sent = b.last
	s.mu.Unlock()
	s.ended(nil)
	return nil
}

// ended records how a try ended. The log has the first failure of several and their end.
func (s *Shipper) ended(err error) {
	s.mu.Lock()
	was := s.st.Err
	s.st.Err = err
	s.mu.Unlock()
	switch {
	case err != nil && was == nil:
		s.o.Log.Error("the audit log can't be shipped: its lines are kept and sent later", "error", err)
	case err == nil && was != nil:
		s.o.Log.Info("the audit log is shipped again", "sent", s.Status().Sent)
	}
}

// lost counts lines that the log no longer has. The first start finds a log without its oldest lines,
// and loses none of them.
func (s *Shipper) lost(lines uint64) {
	s.mu.Lock()
	first := s.st.Sent == 0
	if !first {
		s.st.Lost += lines
	}
	s.mu.Unlock()
	if !first {
		s.o.Log.Error("lines of the audit log were removed before they could be shipped", "lines", lines)
	}
}

// position is the content of the file.
type position struct {
	Sent uint64 `json:"sent"`
	Hash string `json:"hash"` // of that line, SHA-256 in hexadecimal digits
}

func hashOf(line []byte) string {
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:])
}

// begunAgain returns an error if the log doesn't have the line that was sent last. Lines that the log's
// bounds removed leave later ones.
func (p position) begunAgain(after func(uint64) Lines) error {
	if p.Sent == 0 {
		return nil
	}
	from := after(p.Sent - 1)
	defer from.Close()
	n, line, err := from.Next()
	switch {
	case errors.Is(err, io.EOF):
		return fmt.Errorf("it ends before line %d", p.Sent)
	case err != nil || n > p.Sent: // reading is tried again
		return nil
	case hashOf(line) != p.Hash:
		return fmt.Errorf("its line %d is another one", p.Sent)
	}
	return nil
}

func readPosition(file string) (p position, err error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		return p, fmt.Errorf("read how far the audit log was shipped: %w; remove %s to send all of it again", err, file)
	}
	return p, nil
}

func writePosition(file string, p position) error {
	text, err := json.Marshal(p)
	if err == nil {
		err = os.WriteFile(file+".new", text, 0o600)
	}
	if err == nil {
		err = os.Rename(file+".new", file)
	}
	if err != nil {
		return fmt.Errorf("write how far the audit log was shipped: %w", err)
	}
	return nil
}
