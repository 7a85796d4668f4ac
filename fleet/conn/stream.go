package conn

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"
)

// errClosed is net.ErrClosed, as a net.Conn and a net.Listener return it.
var errClosed = net.ErrClosed

// Addr is an end of a stream: a host's name, or gateway.
type Addr string

// Network is "fleet".
func (Addr) Network() string { return "fleet" }

func (a Addr) String() string { return string(a) }

// stream is one connection. Its fields below mu are guarded by mu.
type stream struct {
	e             *end
	in, out       string // subjects
	local, remote Addr

	mu     sync.Mutex
	opened bool  // the other end has accepted it
	closed bool  // by Close
	err    error // why it ended, unless by Close

	reading  side
	unread   bytes.Buffer // at most Options.Window bytes
	received uint64
	granted  uint64 // offset up to which the other end may send
	finished bool   // the other end sends no more
	heard    time.Time

	writing    side
	writer     bool // one Write has its turn
	publishing bool // a frame with an offset is on its way to NATS
	sent       uint64
	limit      uint64 // offset up to which this end may send
	finish     bool   // this end sends no more
}

// side is what a reader or a writer waits for.
type side struct {
	changed *sync.Cond
	late    bool // the deadline is over
	timer   *time.Timer
}

func newStream(e *end, in string, local, remote Addr) *stream {
	s := &stream{e: e, in: in, out: opposite(in), local: local, remote: remote, granted: uint64(e.o.Window), heard: time.Now()}
	s.reading.changed, s.writing.changed = sync.NewCond(&s.mu), sync.NewCond(&s.mu)
	return s
}

func (s *stream) LocalAddr() net.Addr  { return s.local }
func (s *stream) RemoteAddr() net.Addr { return s.remote }

// Read returns what has arrived, before it returns why the stream ended.
func (s *stream) Read(p []byte) (int, error) {
	s.mu.Lock()
	for s.unread.Len() == 0 || s.closed || s.reading.late {
		if err := s.readErr(); err != nil || len(p) == 0 {
			s.mu.Unlock()
			return 0, err
		}
		s.reading.changed.Wait()
	}
	n, _ := s.unread.Read(p)
	if s.unread.Len() == 0 && s.unread.Cap() > maxData {
		s.unread = bytes.Buffer{} // an idle stream keeps no window
	}
	limit := s.received - uint64(s.unread.Len()) + uint64(s.e.o.Window)
	grant := limit-s.granted >= uint64(s.e.o.Window)/4 && !s.finished && s.err == nil
	if grant {
		s.granted = limit
	}
	s.mu.Unlock()
	if grant {
		if err := s.e.send(s.out, s.in, frame{kind: kindCredit, number: limit}); err != nil {
			s.end(fmt.Errorf("%w: %w", ErrDisconnected, err))
		}
	}
	return n, nil
}

// readErr is why a reader must not wait.
func (s *stream) readErr() error {
	switch {
	case s.closed:
		return errClosed
	case s.reading.late:
		return os.ErrDeadlineExceeded
	case s.unread.Len() > 0:
		return nil
	case s.finished:
		return io.EOF
	}
	return s.err
}

func (s *stream) Write(p []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.writer {
		if err := s.writeErr(); err != nil {
			return 0, err
		}
		s.writing.changed.Wait()
	}
	s.writer = true
	defer func() {
		s.writer = false
		s.writing.changed.Broadcast()
	}()
	for {
		if err := s.writeErr(); err != nil || len(p) == 0 {
			return n, err
		}
		room := min(uint64(len(p)), s.limit-s.sent, maxData)
		if room == 0 || s.publishing {
			s.writing.changed.Wait()
			continue
		}
		if err := s.publish(frame{kind: kindData, number: s.sent, data: p[:room]}); err != nil {
			return n, err
		}
		p, n = p[room:], n+int(room)
	}
}

// writeErr is why a writer must not write or wait.
func (s *stream) writeErr() error {
	switch {
	case s.closed:
		return errClosed
	case s.err != nil:
		return s.err
	case s.writing.late:
		return os.ErrDeadlineExceeded
	case s.finish:
		return syscall.EPIPE
	}
	return nil
}

// publish sends a frame with this end's offset. The caller holds mu, which is free while NATS takes the
// frame, and publishing is false.
func (s *stream) publish(f frame) error {
	s.publishing = true
	s.mu.Unlock()
	err := s.e.send(s.out, s.in, f)
	s.mu.Lock()
	s.publishing = false
	s.writing.changed.Broadcast()
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrDisconnected, err)
		s.endLocked(err)
		return err
	}
	s.sent += uint64(len(f.data))
	return nil
}

// publishNext is publish once no other frame is on its way.
func (s *stream) publishNext(next func() frame) {
	for s.publishing {
		s.writing.changed.Wait()
	}
	_ = s.publish(next()) // an error ends the stream
}

// CloseWrite ends this direction. The other end reads everything, then io.EOF.
func (s *stream) CloseWrite() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.writeErr(); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	s.finish = true
	s.writing.changed.Broadcast()
	s.publishNext(s.finishFrame)
	return nil
}

func (s *stream) finishFrame() frame { return frame{kind: kindFinish, number: s.sent} }

// Close ends both directions. What was written still arrives; what arrives later is answered with a
// reset.
func (s *stream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	s.closed = true
	s.reading.stop()
	s.writing.stop()
	if !s.finish && s.err == nil && s.opened {
		s.finish = true
		s.publishNext(s.finishFrame)
	}
	s.unread = bytes.Buffer{}
	s.e.remove(s)
	return nil
}

// end ends the stream because of err. What has arrived can still be read.
func (s *stream) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endLocked(err)
}

func (s *stream) endLocked(err error) {
	if s.err == nil {
		s.err = err
	}
	s.reading.changed.Broadcast()
	s.writing.changed.Broadcast()
	s.e.remove(s)
}

// fail is end, and the other end learns it.
func (s *stream) fail(err error) {
	s.end(err)
	_ = s.e.send(s.out, "", frame{kind: kindReset, data: []byte(err.Error())})
}

// absent is called when NATS reports that no process reads what was sent.
func (s *stream) absent() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened {
		s.endLocked(ErrGone)
	} else {
		s.endLocked(ErrAbsent)
	}
}

// take applies a frame of the other end.
func (s *stream) take(f frame) {
	if err := s.apply(f); err != nil {
		s.fail(err)
	}
}

func (s *stream) apply(f frame) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = time.Now()
	switch f.kind {
	case kindAccept, kindCredit:
		s.opened = true
		s.limit = max(s.limit, f.number)
		s.writing.changed.Broadcast()
	case kindData:
		switch {
		case f.number != s.received || s.finished:
			return ErrLost
		case f.number+uint64(len(f.data)) > s.granted:
			return errors.New("more was sent than was granted")
		}
		s.received += uint64(len(f.data))
		s.unread.Write(f.data)
		s.reading.changed.Broadcast()
	case kindFinish:
		if f.number != s.received {
			return ErrLost
		}
		s.finished = true
		s.reading.changed.Broadcast()
	case kindAlive:
		if f.number != s.received {
			return ErrLost
		}
	case kindReset:
		s.endLocked(resetBy(string(f.data)))
	case kindOpen:
		return errFrame
	}
	return nil
}

// resetBy is the error for the reason that the other end gives. A reason of this package is that error
// again.
func resetBy(reason string) error {
	for _, known := range []error{ErrBusy, ErrLost, ErrSilent} {
		if reason == known.Error() {
			return fmt.Errorf("%w: %w", ErrReset, known)
		}
	}
	if reason = strings.ToValidUTF8(reason, ""); reason == "" || len(reason) > 200 {
		return ErrReset
	}
	return fmt.Errorf("%w: %q", ErrReset, reason)
}

// beat gives a sign of life, and ends the stream when the other end has given none.
func (s *stream) beat(now time.Time) {
	s.mu.Lock()
	if now.Sub(s.heard) > s.e.o.Silence {
		s.mu.Unlock()
		s.fail(ErrSilent)
		return
	}
	if s.opened && !s.publishing && !s.closed && s.err == nil {
		_ = s.publish(frame{kind: kindAlive, number: s.sent}) // an error ends the stream
	}
	s.mu.Unlock()
}

func (s *stream) SetDeadline(t time.Time) error {
	return errors.Join(s.SetReadDeadline(t), s.SetWriteDeadline(t))
}

func (s *stream) SetReadDeadline(t time.Time) error  { return s.setDeadline(&s.reading, t) }
func (s *stream) SetWriteDeadline(t time.Time) error { return s.setDeadline(&s.writing, t) }

func (s *stream) setDeadline(d *side, t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	d.stop()
	d.late = !t.IsZero() && !t.After(time.Now())
	if t.IsZero() || d.late {
		return nil
	}
	var timer *time.Timer
	timer = time.AfterFunc(time.Until(t), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if d.timer == timer { // and no later deadline
			d.late = true
			d.changed.Broadcast()
		}
	})
	d.timer = timer
	return nil
}

// stop stops the timer and wakes who waits.
func (d *side) stop() {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	d.changed.Broadcast()
}
