package faults

import (
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// TestManySessions measures a server with many idle sessions and some
// watchers, and kills it.
func TestManySessions(t *testing.T) {
	count := 100
	if testing.Short() {
		count = 50
		t.Log("50 sessions instead of 100, for -short")
	}
	h := newHost(t, fast)
	h.start()
	bare := private(t, h.pid())
	share(4, count, func(i int) {
		if out, status := h.try(nil, "new", fmt.Sprintf("s%d", i), "--", "cat"); status != 0 {
			t.Errorf("new: status %d\n%s", status, out)
		}
	})
	var programs, holders []int
	for i := range count {
		s := h.info(fmt.Sprintf("s%d", i))
		programs, holders = append(programs, s.PID), append(holders, s.HolderPID)
	}

	h.kill()
	took := h.start()
	back := h.health()
	t.Logf("%d sessions were back %v after the server's start", count, took.Round(time.Millisecond))
	if took > 3*time.Second {
		t.Errorf("%d sessions were back after %v", count, took)
	}
	living := 0
	for state, n := range back.Sessions {
		if state != "exited" {
			living += n
		}
	}
	if living != count || len(back.Problems) > 0 {
		t.Errorf("after the start: %v, %q", back.Sessions, back.Problems)
	}
	for _, pid := range programs {
		if !alive(pid) {
			t.Fatalf("program %d has ended", pid)
		}
	}

	for range 10 {
		watcher := h.command("watch")
		out, err := watcher.StdoutPipe()
		must(t, err)
		must(t, watcher.Start())
		read := make(chan struct{})
		go func() { defer close(read); _, _ = io.Copy(io.Discard, out) }() // ends when the watcher ends
		t.Cleanup(func() { _ = watcher.Process.Kill(); <-read; _ = watcher.Wait() })
	}
	used := func() time.Duration {
		sum := cpu(h.pid())
		for _, pid := range holders {
			sum += cpu(pid)
		}
		return sum
	}
	// The work after the start has ended when the CPU use stays below a hundredth for a while.
	waitFor(t, "the server to be idle", func() bool {
		before := used()
		time.Sleep(500 * time.Millisecond)
		return used()-before < 10*time.Millisecond
	})
	const over = 10 * time.Second
	before := used()
	time.Sleep(over) // the time that is measured
	share := float64(used()-before) / float64(over)
	server := private(t, h.pid())
	var held int64
	for _, pid := range holders {
		held += private(t, pid)
	}
	each := held/int64(count) + max(0, server-bare)/int64(count)
	t.Logf("idle, with 10 watchers: %.2f %% of a core; private memory: %s a holder, %s of the server a session, %s the bare server",
		100*share, mib(held/int64(count)), mib((server-bare)/int64(count)), mib(bare))
	if share > 0.01 {
		t.Errorf("idle sessions use %.2f %% of a core", 100*share)
	}
	if each > 4<<20 {
		t.Errorf("a session costs %s of private memory", mib(each))
	}
	for _, dir := range h.sessionDirs() {
		if holderPID(dir) == 0 {
			t.Errorf("no holder in %s", filepath.Base(dir))
		}
	}
}

// share runs work for 0..n-1 on several goroutines.
func share(workers, n int, work func(int)) {
	next := make(chan int)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for i := range next {
				work(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	group.Wait()
}
