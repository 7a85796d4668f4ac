package sessions

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"berth/agent"
	"berth/api"
	"berth/sessions/process"
)

// TestHeld: another process of the terminal's user makes it keep what is typed, or what is drawn.
func TestHeld(t *testing.T) {
	p := open(t)
	s := p.sh("one", "stty raw -echo; printf ready; sleep 600")
	shows(t, s, "ready")
	pid := s.Status().PID
	tty, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/0", pid), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	fd := int(tty.Fd())
	raw, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	const nullDiscipline = 27 // N_NULL
	for name, way := range map[string]struct {
		hold, release func() error
		lines         bool // a program that reads lines sets its terminal so itself
	}{
		"lines": {lines: true, hold: func() error {
			lines := *raw
			lines.Lflag |= unix.ICANON
			return unix.IoctlSetTermios(fd, unix.TCSETS, &lines)
		}},
		"several bytes": {lines: true, hold: func() error {
			several := *raw
			several.Cc[unix.VMIN] = 200
			return unix.IoctlSetTermios(fd, unix.TCSETS, &several)
		}},
		"output":     {hold: func() error { return unix.IoctlSetInt(fd, unix.TCXONC, unix.TCOOFF) }, release: func() error { return unix.IoctlSetInt(fd, unix.TCXONC, unix.TCOON) }},
		"discipline": {hold: func() error { return unix.IoctlSetPointerInt(fd, unix.TIOCSETD, nullDiscipline) }, release: func() error { return unix.IoctlSetPointerInt(fd, unix.TIOCSETD, 0) }},
	} {
		t.Run(name, func(t *testing.T) {
			if process.Held(pid, true) {
				t.Error("held before it is")
			}
			if err := way.hold(); name == "discipline" && errors.Is(err, unix.EINVAL) {
				return // a kernel without it
			} else if err != nil {
				t.Fatal(err)
			}
			if !process.Held(pid, true) || process.Held(pid, false) == way.lines {
				t.Errorf("held for keys: %v, for lines: %v", process.Held(pid, true), process.Held(pid, false))
			}
			if way.release != nil {
				if err := way.release(); err != nil {
					t.Fatal(err)
				}
			}
			if err := unix.IoctlSetTermios(fd, unix.TCSETS, raw); err != nil {
				t.Fatal(err)
			}
			if process.Held(pid, true) {
				t.Error("held after its release")
			}
		})
	}
	if process.Held(0, true) {
		t.Error("held by no program")
	}
}

// keyed is an asker whose program reads keys.
type keyed struct{ asker }

func (keyed) ReadsKeys() {}

// TestSized: another process of the terminal's user sets its size, and the agent draws for that. Rows then end where
// Berth reads the end of a line, so no key answers the dialog until the size is back.
func TestSized(t *testing.T) {
	p, s := newAskerOf(t, keyed{}, "asks 1: a")
	tty, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/0", s.Status().PID), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	size, err := unix.IoctlGetWinsize(int(tty.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		t.Fatal(err)
	}
	set := func(cols uint16) {
		t.Helper()
		if err := unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: cols, Row: size.Row}); err != nil {
			t.Fatal(err)
		}
	}
	set(size.Col / 2)
	if r, err := s.Respond(t.Context(), claim("c1"), "", agent.Answer{Kind: agent.Accept}); r != nil || code(err) != string(api.CodeNotReady) {
		t.Errorf("at another size: %+v, %v", r, err)
	}
	p.counts(s.id, map[string]int{"input": 0})
	set(size.Col)
	if r, err := s.Respond(t.Context(), claim("c1"), "", agent.Answer{Kind: agent.Accept}); err != nil || !r.Confirmed {
		t.Errorf("at its own size: %+v, %v", r, err)
	}
}

// TestHalted: a stopped program is seen to be, also where another one has the foreground of its terminal.
func TestHalted(t *testing.T) {
	p := open(t)
	s := p.sh("one", "set -m; printf ready; sleep 600; exit")
	shows(t, s, "ready")
	pid := s.Status().PID
	until := func(what string, is func() bool) {
		t.Helper()
		for deadline := time.Now().Add(patience); !is(); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal(what)
			}
		}
	}
	until("the other one isn't in front", func() bool { group, front, _ := process.Foreground(pid); return front > 0 && front != group })
	if process.Halted(pid) {
		t.Error("halted before it is stopped")
	}
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer unix.Kill(pid, unix.SIGCONT)
	until("a stopped program counts as running", func() bool { return process.Halted(pid) })
}
