// Package rawio does the short reads and writes between a key and its echo without Go's
// bookkeeping of system calls.
//
// Go's runtime announces each system call to its monitor thread (sysmon), in case the call blocks.
// The monitor sleeps while a process is idle, so the first call after a pause wakes that thread:
// a futex call, and a thread that takes a processor from the program or the client that the key is
// on its way to. Server and holder pause between any two keys. The monitor was a tenth of the
// server's and a quarter of the holder's CPU time for a key.
//
// The calls here are not announced, so they must not block. Streams are non-blocking, and wait in
// the runtime's poller as net.Conn does. ReadAt asks the kernel for what it has in memory. Append
// may wait for the file system, and its comment says when that is acceptable. Both take files of the
// caller's own: no other goroutine closes them meanwhile. On systems other than Linux all of it is
// the ordinary call.
package rawio

import (
	"io"
	"os"
	"syscall"
)

// Stream is a non-blocking socket or terminal. One goroutine may read and one may write at a time.
// Deadlines and Close of the connection that it was made from apply.
type Stream struct {
	raw     syscall.RawConn
	in, out transfer
}

// transfer is one direction. Its function is made once, because a closure for each call is garbage.
type transfer struct {
	p    []byte
	n    int
	err  error
	once bool // do not wait
	step func(fd uintptr) (done bool)
}

// New makes the stream of a connection that stays open for other use.
func New(c syscall.Conn) (*Stream, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	s := &Stream{raw: raw}
	s.in.step = s.in.read
	s.out.step = s.out.write
	return s, nil
}

// Read waits for bytes; io.EOF is the end.
func (s *Stream) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	s.in.p, s.in.n, s.in.err = p, 0, nil
	err := s.raw.Read(s.in.step)
	s.in.p = nil
	if err == nil {
		err = s.in.err // as it is: readers compare io.EOF
	}
	return s.in.n, err
}

// Write writes all of p, and waits for room.
func (s *Stream) Write(p []byte) (int, error) { return s.write(p, false) }

// TryWrite writes what there is room for now, which may be nothing.
func (s *Stream) TryWrite(p []byte) (int, error) { return s.write(p, true) }

func (s *Stream) write(p []byte, once bool) (int, error) {
	s.out.p, s.out.n, s.out.err, s.out.once = p, 0, nil, once
	err := s.raw.Write(s.out.step)
	s.out.p = nil
	if err == nil {
		err = s.out.err
	}
	return s.out.n, err
}

func (t *transfer) read(fd uintptr) (done bool) {
	n, err := TryRead(fd, t.p)
	switch {
	case err == syscall.EAGAIN:
		return false
	case err != nil:
		t.err = os.NewSyscallError("read", err)
	case n == 0:
		t.err = io.EOF
	default:
		t.n = n
	}
	return true
}

func (t *transfer) write(fd uintptr) (done bool) {
	for t.n < len(t.p) {
		n, err := tryWrite(fd, t.p[t.n:])
		switch {
		case err == syscall.EAGAIN:
			return t.once
		case err != nil:
			t.err = os.NewSyscallError("write", err)
			return true
		}
		t.n += n
	}
	return true
}

// appendMost is the longest Append. What is longer takes long enough for the ordinary call.
const appendMost = 1 << 10

// Append is f.Write for the end of a journal. If a file system makes the call wait, all goroutines
// of the processor wait too: it is for a program that can't go on without the write.
func Append(f *os.File, p []byte) (n int, err error) {
	if len(p) > appendMost {
		return f.Write(p)
	}
	for n < len(p) {
		k, err := tryWrite(f.Fd(), p[n:])
		if err == nil && k == 0 {
			err = io.ErrShortWrite
		}
		if err != nil {
			return n, os.NewSyscallError("write", err)
		}
		n += k
	}
	return n, nil
}

// readAt is ReadAt by the ordinary call.
func readAt(f *os.File, p []byte, off int64) (int, error) {
	n, err := f.ReadAt(p, off)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}
