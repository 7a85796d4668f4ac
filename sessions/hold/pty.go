package hold

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"berth/rawio"
)

// master is the holder's side of the PTY: non-blocking and in the runtime's
// poller, so that reading, writing and deadlines do not wait for each other.
type master struct {
	f      *os.File
	raw    syscall.RawConn
	stream *rawio.Stream
	waited bool // the last read had to; belongs to the reader
}

// openPTY opens a PTY of this size. The slave is for the program only.
func openPTY(cols, rows int) (*master, *os.File, error) {
	opened, slave, err := pty.Open()
	if err != nil {
		return nil, nil, fmt.Errorf("opening a PTY: %w", err)
	}
	defer opened.Close()
	// The opened file is blocking, and its Fd() would make it so again: a
	// duplicate is set non-blocking before the poller sees it.
	fd, err := unix.FcntlInt(opened.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		slave.Close()
		return nil, nil, fmt.Errorf("opening a PTY: %w", err)
	}
	m := &master{f: os.NewFile(uintptr(fd), "pty")}
	if m.raw, err = m.f.SyscallConn(); err == nil {
		m.stream, err = rawio.New(m.f)
	}
	if err == nil {
		err = m.resize(cols, rows)
	}
	if err != nil {
		m.f.Close()
		slave.Close()
		return nil, nil, fmt.Errorf("opening a PTY: %w", err)
	}
	return m, slave, nil
}

// echoSize is what comes alone: a key's echo. What is longer may go on.
const echoSize = 32

// read waits for output, then takes all there is up to len(p). Bytes come
// with a nil error; the error that ended them comes with the next read.
func (m *master) read(p []byte) (int, error) {
	n := 0
	var failed error
	m.waited = false
	err := m.raw.Read(func(fd uintptr) bool {
		for n < len(p) {
			k, err := rawio.TryRead(fd, p[n:])
			switch {
			case errors.Is(err, unix.EAGAIN):
				m.waited = m.waited || n == 0
				return n > 0
			case err != nil:
				failed = err
				return true
			case k == 0:
				failed = io.EOF
				return true
			default:
				if n += k; n <= echoSize {
					return true // most probably that was all
				}
			}
		}
		return true
	})
	if n > 0 {
		return n, nil
	}
	if err == nil {
		err = failed
	}
	return 0, err
}

// write writes p, giving up after wait without room; n is how far it got. A deadline, which sets a
// timer of the runtime's, is only for what finds no room at once.
func (m *master) write(p []byte, wait time.Duration) (n int, err error) {
	if n, err = m.stream.TryWrite(p); err != nil || n == len(p) {
		return n, err
	}
	if err := m.f.SetWriteDeadline(time.Now().Add(wait)); err != nil {
		return n, err
	}
	defer m.f.SetWriteDeadline(time.Time{})
	more, err := m.stream.Write(p[n:])
	return n + more, err
}

// resize sets the size; the kernel signals the program if it changed.
func (m *master) resize(cols, rows int) error {
	return m.control(func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(cols), Row: uint16(rows)})
	})
}

// foreground is the process group that has the terminal.
func (m *master) foreground() (group int, err error) {
	err = m.control(func(fd int) error {
		group, err = unix.IoctlGetInt(fd, unix.TIOCGPGRP)
		return err
	})
	return group, err
}

func (m *master) control(fn func(fd int) error) error {
	var failed error
	if err := m.raw.Control(func(fd uintptr) { failed = fn(int(fd)) }); err != nil {
		return err
	}
	return failed
}
