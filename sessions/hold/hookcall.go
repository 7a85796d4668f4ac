package hold

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// tellWithin is how long `berth-hold hook` may take to read its stdin, and then
	// again to hand the event over: it holds an agent up.
	tellWithin = 5 * time.Second
	// holdSlack is how much longer than HOLD it waits for a holder that was
	// stopped.
	holdSlack = 5 * time.Second
	// orphanEvery is how often it looks for its parent where the system does
	// not tell.
	orphanEvery = time.Second
)

// errOver says that no process waits for the hook any more.
var errOver = errors.New("the agent no longer waits for this hook")

// A call is one `berth-hold hook`. It holds up an agent: whatever fails, it ends
// with status 0 and no output.
type call struct {
	head hookHead
	// deadline is when it ends in any case.
	deadline time.Time
	fd       int // the socket, or -1
	parents  orphanWatch
}

// Hook is `berth-hold hook`, and `berth hook` for users' own scripts, with the arguments after it:
//
//	--tell [EVENT]             hands over the event whose JSON is on stdin
//	--ask HOLD GRACE [EVENT]   and waits for a verdict, at most HOLD, or GRACE
//	                           while no server is there (durations: 15s, 24h)
//	--ask HOLD GRACE --if FILE [EVENT]
//	                           the same while FILE exists, else as --tell: the
//	                           agent doesn't wait if no part needs the event
//	state STATE [MESSAGE...]   reports what the program is doing
//
// It returns the exit status: 0 with no output, also without a holder. A verdict has
// its own status and output. Unknown arguments are 1, because 2 would block agents.
func Hook(args []string) int {
	head, err := parseHook(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "berth hook:", err)
		return 1
	}
	if !head.Ask {
		// A signal that ends an agent must not prevent its last report.
		signal.Ignore(syscall.SIGHUP)
	}
	c := &call{head: head, deadline: time.Now().Add(tellWithin), fd: -1, parents: watchParents(head.Ask)}
	var payload []byte
	if args[0] == hookState {
		payload = statePayload(args)
		c.head.Bytes = int64(len(payload))
	} else {
		payload = c.readEvent(int(os.Stdin.Fd()))
	}
	c.deadline = time.Now().Add(tellWithin)
	socket := os.Getenv(HookSocketEnv)
	if socket == "" {
		return 0
	}
	status, err := c.perform(socket, payload)
	if err != nil {
		return 0
	}
	return status
}

// parseHook reads the arguments.
func parseHook(args []string) (hookHead, error) {
	var q hookHead
	rest := args
	switch {
	case len(args) >= 1 && args[0] == hookState:
		q.Event = hookState
		return q, checkState(args)
	case len(args) >= 1 && args[0] == "--tell":
		rest = args[1:]
	case len(args) >= 3 && args[0] == "--ask":
		hold, err := time.ParseDuration(args[1])
		if err != nil {
			return q, fmt.Errorf("HOLD: %w", err)
		}
		grace, err := time.ParseDuration(args[2])
		if err != nil {
			return q, fmt.Errorf("GRACE: %w", err)
		}
		q.Ask, q.HoldMillis, q.GraceMillis = true, hold.Milliseconds(), grace.Milliseconds()
		rest = args[3:]
		if len(rest) >= 2 && rest[0] == "--if" {
			if unix.Access(rest[1], unix.F_OK) != nil {
				q = hookHead{}
			}
			rest = rest[2:]
		}
	default:
		return q, errors.New("use state STATE [MESSAGE], --tell [EVENT] or --ask HOLD GRACE [--if FILE] [EVENT]")
	}
	if len(rest) > 1 {
		return q, fmt.Errorf("unexpected argument %q", rest[1])
	}
	if len(rest) == 1 {
		q.Event = rest[0]
	}
	return q, nil
}

// readEvent reads stdin to its end, so that the agent's writing never fails,
// and keeps as much as the holder takes. A terminal on stdin has no event.
func (c *call) readEvent(fd int) []byte {
	if _, err := unix.IoctlGetTermios(fd, getTermiosRequest); err == nil {
		return nil
	}
	buf := make([]byte, 0, 16<<10)
	for {
		if len(buf) == cap(buf) && len(buf) < MaxHookPayload {
			buf = append(buf, 0)[:len(buf)]
		}
		into := buf[len(buf):min(cap(buf), MaxHookPayload)]
		if len(into) == 0 {
			into = make([]byte, 64<<10) // more than is taken
		}
		if c.await(fd, unix.POLLIN) != nil {
			return buf
		}
		n, err := ignoringEINTR(func() (int, error) { return unix.Read(fd, into) })
		if n <= 0 || err != nil && err != unix.EAGAIN {
			return buf
		}
		c.head.Bytes += int64(n)
		if len(buf) < MaxHookPayload {
			buf = buf[:len(buf)+n]
		}
	}
}

// perform hands the event over and does what the holder says.
func (c *call) perform(socket string, payload []byte) (status int, err error) {
	if err := c.connect(socket); err != nil {
		return 0, err
	}
	defer unix.Close(c.fd)
	head, err := encodeHook(c.head)
	if err != nil {
		return 0, err
	}
	frame := appendFrame(make([]byte, 0, frameHeader+len(head)+len(payload)), frameHook, head, payload)
	if err := c.write(c.fd, frame, len(frame)); err != nil {
		return 0, err
	}
	for {
		t, p, err := readFrame(c)
		switch {
		case err != nil:
			return 0, err
		case t == frameTaken && !c.head.Ask:
			return 0, nil
		case t == frameTaken:
			c.deadline = time.Now().Add(c.head.hold() + holdSlack)
		case t == frameLetGo:
			return 0, nil
		case t == frameAnswer:
			status, stdout, err := decodeAnswer(p)
			if err != nil {
				return 0, err
			}
			c.deadline = time.Now().Add(deliverWithin)
			if err := c.write(unix.Stdout, stdout, pipeRoom); err != nil {
				return 0, err
			}
			// The agent reads it when this process ends, whatever the holder hears.
			c.write(c.fd, appendFrame(nil, frameDelivered), frameHeader)
			return status, nil
		}
	}
}

// connect reaches the holder, which may have a queue of others before it.
func (c *call) connect(socket string) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	unix.CloseOnExec(fd)
	// It bounds connecting too, where that waits.
	left := unix.NsecToTimeval(max(time.Until(c.deadline), time.Millisecond).Nanoseconds())
	unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &left)
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: socket}); err != nil {
		unix.Close(fd)
		return err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return err
	}
	c.fd = fd
	return nil
}

// Read reads from the holder.
func (c *call) Read(p []byte) (int, error) {
	for {
		if err := c.await(c.fd, unix.POLLIN); err != nil {
			return 0, err
		}
		n, err := ignoringEINTR(func() (int, error) { return unix.Read(c.fd, p) })
		switch {
		case err == unix.EAGAIN:
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// pipeRoom is what a pipe has room for when it is ready to be written to: more
// would block.
const pipeRoom = 4 << 10

// write writes all of p, at most so much at once.
func (c *call) write(fd int, p []byte, most int) error {
	for len(p) > 0 {
		if err := c.await(fd, unix.POLLOUT); err != nil {
			return err
		}
		n, err := ignoringEINTR(func() (int, error) { return unix.Write(fd, p[:min(len(p), most)]) })
		if err != nil && err != unix.EAGAIN {
			return err
		}
		p = p[max(n, 0):]
	}
	return nil
}

// await waits until fd is ready. It fails when the time is over, and for an
// asker when the reader of its answer is gone.
func (c *call) await(fd int, events int16) error {
	for {
		left := time.Until(c.deadline)
		if left <= 0 || c.parents.orphan() {
			return errOver
		}
		fds := []unix.PollFd{{Fd: int32(fd), Events: events}}
		if c.head.Ask {
			if fd != unix.Stdout {
				fds = append(fds, unix.PollFd{Fd: int32(unix.Stdout)}) // its end alone
			}
			fds = c.parents.append(fds)
			if !c.parents.ended() {
				left = min(left, orphanEvery)
			}
		}
		ms := int((left + time.Millisecond - 1) / time.Millisecond)
		n, err := ignoringEINTR(func() (int, error) { return unix.Poll(fds, ms) })
		if err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		// What is there to be read counts, even if a process is gone.
		if fds[0].Revents != 0 {
			return nil
		}
		return errOver
	}
}

// ignoringEINTR repeats a system call that a signal cut short.
func ignoringEINTR(f func() (int, error)) (int, error) {
	for {
		n, err := f()
		if err != unix.EINTR {
			return n, err
		}
	}
}
