package hold

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestProgramRunsAndEnds(t *testing.T) {
	spec := testSpec(t, "sh", "-c", "stty size; tty; umask; echo out $0 $X; read line; echo got $line; exit 3", "zero")
	spec.Env = append(spec.Env, "X=y")
	l := start(t, spec)
	f := follow(l, 0)
	f.untilText(t, "out zero y")
	if err := l.Input(t.Context(), []byte("hello\n"), json.RawMessage(`{"by":"test"}`)); err != nil {
		t.Fatal(err)
	}
	if exit := f.untilEnd(t); exit != (Exit{Code: 3}) {
		t.Errorf("exit %+v", exit)
	}
	text := string(f.text)
	for _, want := range []string{"24 80\r\n", "/dev/pts/", "got hello\r\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %q", want, text)
		}
	}
	var kinds []string
	for i, r := range records(t, spec.Dir) {
		if r.N != uint64(i+1) {
			t.Errorf("record %d is number %d", i+1, r.N)
		}
		kinds = append(kinds, r.Kind)
	}
	if got := strings.Join(kinds, " "); got != "started input exit" {
		t.Errorf("records: %s", got)
	}
	in := ofKind[InputData](t, spec.Dir, KindInput)
	if in[0].Bytes != 6 || string(in[0].Mark) != `{"by":"test"}` {
		t.Errorf("input record %+v", in[0])
	}
	if err := l.Input(t.Context(), []byte("x"), nil); !errors.Is(err, ErrEnded) {
		t.Errorf("input after the end: %v", err)
	}
}

func TestStartTellsWhyNot(t *testing.T) {
	spec := testSpec(t, "sh")
	spec.Path = "/nowhere/at/all"
	_, err := Start(t.Context(), exe(t), spec, nil)
	var failed *StartError
	if !errors.As(err, &failed) || !errors.Is(err, syscall.ENOENT) || !strings.Contains(err.Error(), spec.Path) {
		t.Errorf("missing program: %v", err)
	}
	spec = testSpec(t, "sh")
	spec.Cwd = "/nowhere"
	if _, err := Start(t.Context(), exe(t), spec, nil); !errors.Is(err, syscall.ENOENT) || !strings.Contains(err.Error(), "folder /nowhere") {
		t.Errorf("missing folder: %v", err)
	}
	spec = testSpec(t, "sh")
	script := spec.Dir + "/script"
	os.WriteFile(script, []byte("\x00nonsense"), 0o700)
	spec.Path = script
	if _, err := Start(t.Context(), exe(t), spec, nil); !errors.Is(err, syscall.ENOEXEC) {
		t.Errorf("not a program: %v", err)
	}
	if _, err := Dial(t.Context(), spec.Dir); !errors.Is(err, ErrGone) {
		t.Errorf("dialling what never started: %v", err)
	}
}

func TestShortProgramIsSeenToItsEnd(t *testing.T) {
	spec := own(t, "burst", "200000")
	l := start(t, spec)
	f := follow(l, 0)
	if exit := f.untilEnd(t); exit.Code != 7 {
		t.Errorf("exit %+v", exit)
	}
	if len(f.text) != 200000 {
		t.Errorf("read %d bytes of 200000", len(f.text))
	}
	eventually(t, "holder ends", func() bool { return !alive(l.Welcome().HolderPID, l.Welcome().HolderStart) })
	if _, err := os.Stat(spec.Socket); !os.IsNotExist(err) {
		t.Errorf("socket is left: %v", err)
	}
}

func TestExitIsInTheJournalWithNoServer(t *testing.T) {
	spec := testSpec(t, "sh", "-c", "echo before; read x; echo after; kill -USR1 $$")
	l := start(t, spec)
	follow(l, 0).untilText(t, "before")
	if err := l.Input(t.Context(), []byte("\n"), nil); err != nil {
		t.Fatal(err)
	}
	l.Close()
	w := l.Welcome()
	eventually(t, "holder ends", func() bool { return !alive(w.HolderPID, w.HolderStart) })
	exits := ofKind[Exit](t, spec.Dir, KindExit)
	if len(exits) != 1 || exits[0].Signal != "SIGUSR1" {
		t.Errorf("exits %+v", exits)
	}
	buf := make([]byte, 100)
	n, err := OpenOutput(spec.Dir).ReadAt(buf, 0)
	if err != nil || !strings.Contains(string(buf[:n]), "after") {
		t.Errorf("output %q, %v", buf[:n], err)
	}
	if _, err := Dial(t.Context(), spec.Dir); !errors.Is(err, ErrGone) {
		t.Errorf("dial: %v", err)
	}
}

func TestResizeSignalAndNoteAreRecorded(t *testing.T) {
	spec := testSpec(t, "sh", "-c", "trap 'echo int' INT; trap 'stty size' WINCH; echo up; while :; do sleep 0.05; done")
	l := start(t, spec)
	f := follow(l, 0)
	f.untilText(t, "up")
	if err := l.Resize(101, 33, json.RawMessage(`1`)); err != nil {
		t.Fatal(err)
	}
	f.untilText(t, "33 101")
	if err := l.Signal(syscall.SIGINT, nil); err != nil {
		t.Fatal(err)
	}
	f.untilText(t, "int")
	if err := l.Note("lease", json.RawMessage(`{"who":"me"}`)); err != nil {
		t.Fatal(err)
	}
	if err := l.Note("", nil); !errors.Is(err, ErrBadRequest) {
		t.Errorf("note with no kind: %v", err)
	}
	if err := l.Resize(0, 1, nil); err == nil {
		t.Error("a size of 0 columns is taken")
	}
	var seen []string
	after := uint64(0)
	f.until(t, "records", func() bool {
		l.ReadControl(after, func(r Record) error {
			after = r.N
			seen = append(seen, r.Kind)
			return nil
		})
		return len(seen) >= 4
	})
	if got := strings.Join(seen, " "); got != "started resize signal lease" {
		t.Errorf("records: %s", got)
	}
	again := redial(t, spec.Dir)
	if w := again.Welcome(); w.Cols != 101 || w.Rows != 33 || w.Control != 4 || w.Written != f.off {
		t.Errorf("welcome %+v, read to %d", w, f.off)
	}
	select {
	case <-l.Done():
	case <-time.After(patience):
		t.Fatal("the old link goes on")
	}
	if err := l.Err(); !errors.Is(err, ErrReplaced) {
		t.Errorf("the old link ended with %v", err)
	}
}

func TestEndKillsTheWholeTree(t *testing.T) {
	// A daemon of a session of its own, deaf to SIGHUP, holding the terminal.
	spec := testSpec(t, "sh", "-c", `trap '' HUP; setsid sh -c 'trap "" HUP TERM; (sleep 1000 & sleep 1000) & echo daemon $$; sleep 1000' & sleep 1000`)
	l := start(t, spec)
	f := follow(l, 0)
	f.untilText(t, "daemon")
	tree, err := descendants(l.Welcome().HolderPID)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := l.End(300*time.Millisecond, nil); err != nil {
		t.Fatal(err)
	}
	if exit := f.untilEnd(t); exit.Signal != "SIGKILL" || exit.Left != 0 {
		t.Errorf("exit %+v", exit)
	}
	if took := time.Since(began); took < 300*time.Millisecond {
		t.Errorf("killed after %v, before the grace was over", took)
	}
	for _, p := range tree {
		if alive(p.pid, p.start) {
			t.Errorf("process %d is left", p.pid)
		}
	}
}

func TestGrandchildEndsAfterTheProgram(t *testing.T) {
	spec := testSpec(t, "sh", "-c", `setsid sh -c 'trap "" HUP; echo daemon; sleep 1000' & read x; echo bye; exit 5`)
	spec.Grace = 200 * time.Millisecond
	l := start(t, spec)
	f := follow(l, 0)
	f.untilText(t, "daemon")
	tree, err := descendants(l.Welcome().HolderPID)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Input(t.Context(), []byte("\n"), nil); err != nil {
		t.Fatal(err)
	}
	if exit := f.untilEnd(t); exit != (Exit{Code: 5}) {
		t.Errorf("exit %+v", exit)
	}
	if !strings.Contains(string(f.text), "bye") {
		t.Errorf("output %q", f.text)
	}
	for _, p := range tree {
		if alive(p.pid, p.start) {
			t.Errorf("process %d is left", p.pid)
		}
	}
}
