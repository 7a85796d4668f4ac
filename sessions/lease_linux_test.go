package sessions

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// leased is a program whose file another process holds by a lease: to open or
// to run it waits until free was called.
func leased(t *testing.T) (program string, free func()) {
	t.Helper()
	program = t.TempDir() + "/program"
	if err := os.WriteFile(program, []byte("#!/bin/sh\nexec sleep 600\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() }) // gives the lease back too
	lease := func(kind int) {
		if _, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, kind); err != nil {
			t.Fatal(err)
		}
	}
	lease(unix.F_WRLCK)
	return program, func() { lease(unix.F_UNLCK) }
}

// holders are those of sessions. Holders also lists commands: git's look at a new session's folder is one, and it
// may run at any time.
func holders(p *place) []Holder {
	return slices.DeleteFunc(p.reg.Holders(), func(h Holder) bool { return h.Command })
}

// TestALeaseHoldsNobodyUp: a session's user makes its program's start wait. All
// others are distinguished and served meanwhile, and the holder that waits is known.
func TestALeaseHoldsNobodyUp(t *testing.T) {
	p := open(t)
	other := p.sh("other", "sleep 600")
	program, free := leased(t)
	made := make(chan error, 1)
	go func() {
		_, err := p.reg.New(context.Background(), Spec{Name: "one", Command: []string{program}}, tester)
		made <- err
	}()
	deadline := time.Now().Add(patience)
	for len(holders(p)) < 2 {
		if time.Now().After(deadline) {
			t.Fatal("the holder that is being started is not known")
		}
		time.Sleep(time.Millisecond)
	}
	p.sh("another", "sleep 600")
	if err := p.reg.Restart(t.Context(), other, tester); err != nil {
		t.Fatal(err)
	}
	for len(holders(p)) != 3 { // the holder before the restart may still be ending
		if time.Now().After(deadline) {
			t.Fatalf("%d holders", len(holders(p)))
		}
		time.Sleep(time.Millisecond)
	}
	select {
	case err := <-made:
		t.Fatalf("the start waited for nothing: %v", err)
	default:
	}
	free()
	if err := <-made; err != nil {
		t.Fatal(err)
	}
	if n := len(holders(p)); n != 3 {
		t.Errorf("%d holders when all are started: %+v", n, holders(p))
	}
}
