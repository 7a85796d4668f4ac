package faults

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"
)

// TestServerFrozen stops the server with SIGSTOP while a session prints more than the journal keeps. The
// program waits for at most a few seconds. Afterwards the screen is right, and the session works as
// before.
func TestServerFrozen(t *testing.T) {
	size := int64(120 << 20) // the journal keeps 64 MiB
	h := newHost(t, fast)
	h.start()
	h.create("log", "--size", "200x50", "--", program, "print", h.dir, fmt.Sprint(size))
	print := func(n int) {
		t.Helper()
		h.run("input", "log", "--enter", fmt.Sprint(n))
	}
	shows := func(n int) {
		t.Helper()
		waitFor(t, "the session's screen to be up to date", func() bool {
			return slices.Contains(trimmed(answer[screen](h, "screen", "log").Lines), fmt.Sprintf("done %d", n))
		})
	}
	print(0)
	alone := h.printed(1)
	shows(0)
	want := trimmed(answer[screen](h, "screen", "log").Lines)

	begun := time.Now()
	print(1)
	must(t, syscall.Kill(h.pid(), syscall.SIGSTOP))
	stopped := h.printed(2)
	took := time.Since(begun)
	must(t, syscall.Kill(h.pid(), syscall.SIGCONT))
	shows(1)
	got := trimmed(answer[screen](h, "screen", "log").Lines)
	t.Logf("%d MiB took %v with a server, %v with one that was stopped", size>>20, alone.Round(time.Millisecond), stopped.Round(time.Millisecond))
	if n := len(want); len(got) != n || !slices.Equal(got[:n-1], want[:n-1]) {
		t.Errorf("the screen differs:\n%q\n%q", got, want)
	}
	// The holder waits once for five seconds for a server that reads nothing. The rest is a margin.
	if stopped > 5*time.Second+3*alone {
		t.Errorf("the program was held back for %v", took)
	}
	print(2)
	h.printed(3)
	shows(2)
}
