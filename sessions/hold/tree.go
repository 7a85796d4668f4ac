package hold

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// drainFor is how long the PTY may be silent, after the tree is gone,
	// before its end is taken for granted.
	drainFor = time.Second
	// farewell is how long a server may take to close after the farewell.
	farewell = 10 * time.Second
	// firstServer is how long the holder of a program that ended at once
	// waits for its parent.
	firstServer = 5 * time.Second
)

// reap collects every child, the program's orphans included, until there is
// none left.
func (h *holder) reap() {
	defer close(h.ending.alone)
	told := false
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil { // ECHILD: no child is left
			if !told {
				close(h.ending.exited)
			}
			return
		}
		if pid == h.child.pid && !told && (status.Exited() || status.Signaled()) {
			told = true
			h.ending.status, h.ending.at = status, time.Now()
			close(h.ending.exited)
		}
	}
}

// end asks the program to end: SIGHUP now, SIGKILL to the whole tree after
// grace. A later call can only bring the moment nearer.
func (h *holder) end(grace time.Duration, mark json.RawMessage) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.typing.over {
		return
	}
	h.recordLocked(KindEnd, EndData{GraceMillis: grace.Milliseconds(), Mark: mark})
	h.setDeadline(grace)
	if h.ended() { // its group may be another's by now
		h.hangUpRest()
		return
	}
	h.hangUp()
}

// setDeadline starts the grace, or shortens it.
func (h *holder) setDeadline(grace time.Duration) {
	at := time.Now().Add(grace)
	if h.ending.asked && !at.Before(h.ending.deadline) {
		return
	}
	h.ending.asked, h.ending.deadline = true, at
	select {
	case h.ending.hurry <- struct{}{}:
	default:
	}
}

// hangUp sends SIGHUP to the program's group and to the group in the
// foreground, and wakes what is stopped so that it can act on it.
func (h *holder) hangUp() {
	groups := []int{h.child.pid}
	if fg, err := h.pty.foreground(); err == nil && fg > 1 && fg != h.child.pid {
		groups = append(groups, fg)
	}
	for _, g := range groups {
		syscall.Kill(-g, syscall.SIGHUP)
		syscall.Kill(-g, syscall.SIGCONT)
	}
}

// hangUpRest does the same for whatever outlived the program.
func (h *holder) hangUpRest() {
	rest, _ := descendants(h.self.pid)
	for _, p := range rest {
		signalProcess(p, syscall.SIGHUP)
		signalProcess(p, syscall.SIGCONT)
	}
}

// finish waits for the program's end, ends its tree, and sees the journal
// and the server through to it.
func (h *holder) finish() {
	h.waitProgram()
	h.endWaits()
	left := h.clearTree()
	oom := h.endMemory()
	if err := endCgroup(h.spec.Cgroup); err != nil {
		fmt.Fprintln(os.Stderr, "berth-hold:", err) // the next start of the session takes it as it is
	}
	h.mu.Lock()
	h.typing.over = true
	h.moved.Broadcast()
	h.mu.Unlock()
	h.pty.f.SetWriteDeadline(time.Now())
	select {
	case <-h.drained:
	case <-time.After(drainFor):
		h.stop.Store(true)
		h.pty.f.SetReadDeadline(time.Now())
		<-h.drained
	}
	<-h.typing.done // so that no answer follows the exit
	h.endHooks()
	h.tellExit(Exit{Left: left, OOMLimit: oom})
	h.completeJournal()
	h.sayFarewell()
}

// waitProgram waits until the program has ended, by itself or by the end of
// its grace.
func (h *holder) waitProgram() {
	for {
		var due <-chan time.Time
		h.mu.Lock()
		if h.ending.asked {
			due = time.After(time.Until(h.ending.deadline))
		}
		h.mu.Unlock()
		select {
		case <-h.ending.exited:
			h.mu.Lock()
			h.setDeadline(h.spec.Grace)
			h.mu.Unlock()
			return
		case <-due:
			return
		case <-h.ending.hurry:
		}
	}
}

// clearTree gives what outlived the program the rest of the grace, then kills
// all there is until there is none. It returns how many would not die.
func (h *holder) clearTree() int {
	if h.ended() {
		h.hangUpRest()
	}
	for waiting := true; waiting; {
		h.mu.Lock()
		due := time.After(time.Until(h.ending.deadline))
		h.mu.Unlock()
		select {
		case <-h.ending.alone:
			if reapsAll {
				return 0
			}
			waiting = false
		case <-due:
			waiting = false
		case <-h.ending.hurry:
		}
	}
	h.ending.killed = !h.ended()
	for until := time.Now().Add(killFor); ; {
		left, err := descendants(h.self.pid)
		for _, p := range left {
			signalProcess(p, syscall.SIGKILL)
		}
		if time.Now().After(until) {
			return len(left)
		}
		if len(left) == 0 && err == nil && !reapsAll {
			<-h.ending.exited
			return 0
		}
		select {
		case <-h.ending.alone:
			return 0
		case <-time.After(killEvery):
		}
	}
}

// oomNear is how long before the program's end a kill is taken for its cause.
const oomNear = 2 * time.Second

// shellKilled is how a shell says that SIGKILL has ended its last command.
const shellKilled = 128 + int(syscall.SIGKILL)

// endMemory reports the last kills of the session's cgroup, and gives the limit that has ended the
// program; 0 if that was something else.
func (h *holder) endMemory() int64 {
	h.ending.memory.look()
	h.ending.memory.end()
	status, at := h.ending.status, h.ending.memory.killedAt()
	if !h.ended() || at.IsZero() || h.ending.at.Sub(at) > oomNear {
		return 0
	}
	if status.Signaled() && status.Signal() == syscall.SIGKILL && !h.ending.killed || status.Exited() && status.ExitStatus() == shellKilled {
		return h.ending.memory.limitOf()
	}
	return 0
}

// tellExit records the end and sends it to the server.
func (h *holder) tellExit(exit Exit) {
	if h.ended() {
		if h.ending.status.Signaled() {
			exit.Code, exit.Signal = -1, unix.SignalName(h.ending.status.Signal())
		} else {
			exit.Code = h.ending.status.ExitStatus()
		}
	} else {
		exit.Code, exit.Signal = -1, "SIGKILL"
	}
	h.recordLossBeforeExit()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.recordLocked(KindExit, exit)
	h.ending.exit = &exit
	h.wake()
}

// recordLossBeforeExit gives the disk one more try, so that a loss is
// before the exit where it can.
func (h *holder) recordLossBeforeExit() {
	if h.output.failing() && h.output.retry(time.Now()) {
		h.setInline(false)
	}
}

// completeJournal waits until the disk has taken what it refused. It gives up
// when the session's folder is gone.
func (h *holder) completeJournal() {
	h.output.closeFiles()
	for {
		now := time.Now()
		whole := h.output.retry(now)
		h.mu.Lock()
		whole = h.control.flush(h.written, now) && whole
		h.mu.Unlock()
		if whole {
			return
		}
		if _, err := os.Stat(h.spec.Dir); errors.Is(err, os.ErrNotExist) {
			return
		}
		time.Sleep(retryEvery)
	}
}

// sayFarewell waits for the server to go, which it does after the farewell.
func (h *holder) sayFarewell() {
	late := false
	waited := time.AfterFunc(firstServer, func() {
		h.mu.Lock()
		late = true
		h.moved.Broadcast()
		h.mu.Unlock()
	})
	defer waited.Stop()
	drop := time.AfterFunc(farewell, h.dropServer)
	defer drop.Stop()
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.server != nil || !h.served && !late {
		h.moved.Wait()
	}
}

// errnoOf finds the system's error in a chain.
func errnoOf(err error) (syscall.Errno, bool) {
	var errno syscall.Errno
	ok := errors.As(err, &errno)
	return errno, ok
}
