package hold

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMain makes the test binary the holder's binary too, and the programs
// that tests run under it.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "hold":
			os.Exit(Main(os.Stdin))
		case "program":
			os.Exit(testProgram(os.Args[2:]))
		case enterWord:
			os.Exit(EnterMain())
		case "hook":
			os.Exit(Hook(os.Args[2:]))
		}
	}
	os.Exit(m.Run())
}

// patience bounds every wait for something that must happen.
const patience = 20 * time.Second

// testSpec runs a command in a new session folder.
func testSpec(t testing.TB, argv ...string) Spec {
	t.Helper()
	return specIn(t, t.TempDir(), argv...)
}

func specIn(t testing.TB, dir string, argv ...string) Spec {
	t.Helper()
	sockets, err := os.MkdirTemp("", "hold")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(sockets) })
	path, err := exec.LookPath(argv[0])
	if err != nil {
		t.Fatal(err)
	}
	return Spec{
		Dir:    dir,
		Socket: filepath.Join(sockets, "s"),
		Argv:   argv,
		Env:    []string{"PATH=" + os.Getenv("PATH"), "TERM=xterm-256color"},
		Path:   path,
		Cwd:    "/",
		Cols:   80,
		Rows:   24,
		Grace:  time.Second,
	}
}

// own runs one of the programs in this binary.
func own(t testing.TB, args ...string) Spec {
	t.Helper()
	return testSpec(t, append([]string{exe(t), "program"}, args...)...)
}

func exe(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// start runs the spec; the holder is gone when the test is over.
func start(t testing.TB, spec Spec) *Link {
	t.Helper()
	l, err := Start(t.Context(), exe(t), spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { endHolder(t, l) })
	return l
}

// endHolder ends the session and waits for its holder to be gone.
func endHolder(t testing.TB, l *Link) {
	w := l.Welcome()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	l.Close()
	if again, err := Dial(ctx, l.dir); err == nil {
		again.End(0, nil)
		select {
		case <-again.Done():
		case <-ctx.Done():
			t.Error("the program did not end")
		}
		again.Close()
	}
	for alive(w.HolderPID, w.HolderStart) {
		if ctx.Err() != nil {
			t.Errorf("holder %d did not end", w.HolderPID)
			return
		}
		time.Sleep(time.Millisecond)
	}
	// A panic or a data race in the holder shows in its log only.
	if log, err := os.ReadFile(filepath.Join(l.dir, logFile)); err == nil && len(log) > 0 {
		t.Errorf("the holder said:\n%s", log)
	}
}

// redial takes the holder over.
func redial(t testing.TB, dir string) *Link {
	t.Helper()
	l, err := Dial(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// follower reads a link's output as a server does.
type follower struct {
	l    *Link
	off  int64
	text []byte
	lost int64
	buf  []byte
}

func follow(l *Link, off int64) *follower {
	return &follower{l: l, off: off, buf: make([]byte, 64<<10)}
}

// until reads until ok, the link's end, or a deadline.
func (f *follower) until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(patience)
	for {
		f.read(t)
		if ok() {
			return
		}
		select {
		case <-f.l.Wake():
		case <-f.l.Done():
			f.read(t)
			if !ok() {
				t.Fatalf("%s: the link ended: %v; have %q", what, f.l.Err(), tail(f.text))
			}
			return
		case <-deadline:
			t.Fatalf("%s: did not happen; have %d bytes: %q", what, len(f.text), tail(f.text))
		}
	}
}

// read takes all there is.
func (f *follower) read(t testing.TB) {
	t.Helper()
	for {
		n, err := f.l.ReadOutput(f.buf, f.off)
		f.text = append(f.text, f.buf[:n]...)
		f.off += int64(n)
		var trimmed *TrimmedError
		switch {
		case errors.As(err, &trimmed):
			f.lost += trimmed.First - f.off
			f.off = trimmed.First
		case errors.Is(err, io.EOF):
			f.l.Consumed(f.off)
			return
		case err != nil:
			t.Fatal(err)
		}
	}
}

// untilText waits for a piece of output.
func (f *follower) untilText(t testing.TB, want string) {
	t.Helper()
	f.until(t, "waiting for "+want, func() bool { return strings.Contains(string(f.text), want) })
}

// untilEnd reads to the program's end.
func (f *follower) untilEnd(t testing.TB) Exit {
	t.Helper()
	f.until(t, "waiting for the end", func() bool { return f.l.Err() != nil })
	f.read(t)
	exit, ok := f.l.Exit()
	if !ok {
		t.Fatalf("the link ended with %v and no exit", f.l.Err())
	}
	return exit
}

func tail(b []byte) []byte { return b[max(0, len(b)-300):] }

// records reads the whole control log.
func records(t testing.TB, dir string) []Record {
	t.Helper()
	var all []Record
	if err := ReadControl(dir, 0, func(r Record) error { all = append(all, r); return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}

// ofKind decodes the data of all records of a kind.
func ofKind[T any](t testing.TB, dir, kind string) []T {
	t.Helper()
	var all []T
	for _, r := range records(t, dir) {
		if r.Kind != kind {
			continue
		}
		var v T
		if err := json.Unmarshal(r.Data, &v); err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	return all
}

// eventually polls a condition that nothing announces.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: did not happen", what)
		}
	}
}
