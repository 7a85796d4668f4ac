package sessions

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"berth/sessions/process"
)

// TestUnread: what was typed at a program that reads nothing lies in its
// terminal, until it reads.
func TestUnread(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: only Linux reports what is unread")
	}
	p := open(t)
	may := filepath.Join(t.TempDir(), "may")
	s := p.sh("one", fmt.Sprintf("stty raw -echo\nprintf ready\nwhile [ ! -e %s ]; do sleep 0.05; done\ndd bs=1 count=3 2>/dev/null\nsleep 600", may))
	shows(t, s, "ready")
	if n := process.Unread(s.Status().PID); n != 0 {
		t.Errorf("%d bytes before anything was typed", n)
	}
	if err := s.Deliver(t.Context(), claim("c2"), []byte("abc")); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); process.Unread(s.Status().PID) != 3; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes, not 3", process.Unread(s.Status().PID))
		}
	}
	if err := os.WriteFile(may, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	shows(t, s, "abc")
	if n := process.Unread(s.Status().PID); n != 0 {
		t.Errorf("%d bytes after all was read", n)
	}
	if n := process.Unread(0); n != -1 {
		t.Errorf("%d bytes of no program", n)
	}
}

// TestForegroundName: the name is the one that the program has set, whatever is in it.
func TestForegroundName(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: only Linux reports the foreground")
	}
	p := open(t)
	for i, name := range []string{"plain", "a) S 1 (b", `a\b)`} {
		s := p.sh(fmt.Sprintf("s%d", i), fmt.Sprintf("printf '%%s' '%s' > /proc/$$/comm; printf ready; read a", name))
		shows(t, s, "ready")
		pid := s.Status().PID
		if group, front, got := process.Foreground(pid); group != pid || front != pid || got != name {
			t.Errorf("%q: group %d, foreground %d %q of the program %d", name, group, front, got, pid)
		}
	}
}

// TestComputing: a program that works, or its child in the foreground, is seen to, and
// one that waits for a key is not.
func TestComputing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: only Linux reports what is unread")
	}
	p := open(t)
	for name, script := range map[string]string{"itself": "", "child": "sh -c '%s'; exit"} {
		work := "printf ready; read a; printf begun; while :; do :; done"
		if script != "" {
			work = fmt.Sprintf(script, work)
		}
		s := p.sh(name, work)
		shows(t, s, "ready")
		is := func(want bool) {
			t.Helper()
			for deadline := time.Now().Add(patience); process.Computing(s.Status().PID) != want; time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("%s: computing is not %v", name, want)
				}
			}
		}
		is(false)
		if err := s.Deliver(t.Context(), claim("c2"), []byte("\n")); err != nil {
			t.Fatal(err)
		}
		shows(t, s, "begun")
		is(true)
	}
	if process.Computing(0) {
		t.Error("no program computes")
	}
}

// TestHeld: another process of the terminal's user makes it keep what is typed, or what is drawn.
func TestHeld(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: only Linux reports how a terminal is set")
	}
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

// TestHalted: a stopped program is seen to be, also where another one has the foreground of its terminal.
func TestHalted(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: only Linux reports what is stopped")
	}
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
