package sessions

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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

// TestShared: another program is given the terminal as its input, in a session of its own. It may take the key, so
// none is pressed until it is gone. A sandbox gives its input on to one program in a session of its own, which is the
// only one that reads.
func TestShared(t *testing.T) {
	p := open(t)
	p.close()
	p.options.Drivers = map[string]agent.Driver{"asker": keyed{}}
	p.open()
	file := filepath.Join(t.TempDir(), "pid")
	s := p.sh("one", "stty raw -echo; t=$(tty)\n"+
		"(setsid sh -c 'echo $$ >"+file+"; exec sleep 600' <$t >/dev/null 2>&1 & true) </dev/null\n"+
		"until [ -s "+file+" ]; do sleep 0.01; done\n"+
		"printf 'asks 1: a'; dd bs=1 count=1 2>/dev/null; printf '\\033[2J\\033[Hrests'; sleep 600", func(s *Spec) { s.Agent = "asker" })
	within(t, s, "a prompt", func(st *Status) bool { return st.Request != nil && st.Request.Ready })
	if r, err := s.Respond(t.Context(), claim("c1"), "", agent.Answer{Kind: agent.Accept}); r != nil || code(err) != string(api.CodeNotReady) {
		t.Errorf("beside another program: %+v, %v", r, err)
	}
	p.counts(s.id, map[string]int{"input": 0})
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	other, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(other, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Respond(t.Context(), claim("c1"), "", agent.Answer{Kind: agent.Accept}); err != nil || !r.Confirmed {
		t.Errorf("alone: %+v, %v", r, err)
	}

	boxed := p.sh("two", "exec 3<&0; setsid sleep 600 <&3 & printf ready; wait")
	shows(t, boxed, "ready")
	if st := boxed.Status(); process.Shared(st.HolderPID, st.PID, st.PID) {
		t.Error("a program in a sandbox counts as another one")
	}
}

// TestHalted: a stopped program is seen to be, also where another one has the foreground of its terminal.
func TestHalted(t *testing.T) {
	p := open(t)
	s := p.sh("one", "set -m; printf ready; sleep 600; exit")
	shows(t, s, "ready")
	pid := s.Status().PID
	until(t, "the other one isn't in front", func() bool { group, front, _ := process.Foreground(pid); return front > 0 && front != group })
	if process.Halted(pid) {
		t.Error("halted before it is stopped")
	}
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer unix.Kill(pid, unix.SIGCONT)
	until(t, "a stopped program counts as running", func() bool { return process.Halted(pid) })
}

// until waits for what no event announces.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(what)
		}
	}
}

// TestHaltedReader: the program that reads the keys may be one that the session's program has started, such as an agent that a
// launcher starts. It is seen to be stopped also where another one has the foreground.
func TestHaltedReader(t *testing.T) {
	p := open(t)
	file := filepath.Join(t.TempDir(), "pid")
	s := p.sh("one", "sleep 600 & echo $! >"+file+"; set -m; printf ready; sleep 600; exit")
	shows(t, s, "ready")
	pid := s.Status().PID
	until(t, "the other one isn't in front", func() bool { group, front, _ := process.Foreground(pid); return front > 0 && front != group })
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if process.Halted(pid) {
		t.Error("halted before it is stopped")
	}
	if err := unix.Kill(reader, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer unix.Kill(reader, unix.SIGKILL)
	until(t, "a stopped program counts as running", func() bool { return process.Halted(pid) })
}
