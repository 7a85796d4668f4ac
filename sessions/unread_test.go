package sessions

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

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
