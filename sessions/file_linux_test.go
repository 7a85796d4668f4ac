package sessions

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"berth/sessions/account"
)

// TestFileText: a file that an agent asks to change is read with its user's rights, and what isn't a
// file of text holds up no caller.
func TestFileText(t *testing.T) {
	p := open(t)
	p.options.Environment.Account = account.Lookup
	p.reopen() // the registry reads its options in the background
	s := p.sh("one", "sleep 600")
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(
		os.WriteFile(path("text"), []byte("one\ntwo"), 0o600),
		os.WriteFile(path("long"), []byte(strings.Repeat("x", mostFileText+1)), 0o600),
		unix.Mkfifo(path("fifo"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path   string
		text   string
		exists bool
		says   string
	}{
		{path: path("text"), text: "one\ntwo", exists: true},
		{path: path("none")},
		{path: "/proc/self/environ", exists: true}, // of the server: it has no size
		{path: path("long"), says: "more than"},
		{path: path("fifo"), says: "not a regular file"},
		{path: dir, says: "not a regular file"},
		{path: "text", says: "the folder that it is in isn't known"},
	} {
		text, exists, err := s.FileText(t.Context(), c.path)
		if text != c.text || exists != c.exists || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %q, %v, %v", c.path, text, exists, err)
		}
	}

	// A FIFO that is opened lets its writer go on, and a device that is opened may do anything.
	watch, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(watch)
	if _, err := unix.InotifyAddWatch(watch, path("fifo"), unix.IN_OPEN); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.FileText(t.Context(), path("fifo")); err == nil {
		t.Error("a FIFO has a text")
	}
	if n, err := unix.Read(watch, make([]byte, 1024)); err != unix.EAGAIN {
		t.Errorf("the FIFO was opened: %d bytes of events, %v", n, err)
	}

	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can read as another user")
	}
	st := *s.Status()
	st.User = "daemon"
	s.status.Store(&st)
	if text, _, err := s.FileText(t.Context(), path("text")); text != "" || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a file that its user may not read: %q, %v", text, err)
	}
}
