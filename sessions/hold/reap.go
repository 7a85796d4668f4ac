package hold

import (
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// reaper waits for this process's holders. A goroutine that waits for a process
// keeps a thread for as long as the process lives, so one goroutine looks at all of
// them whenever the system says that a child has ended. It ends with the last holder.
type reaper struct {
	mu      sync.Mutex
	ended   map[int]chan struct{} // by pid; a pid is not used again before it is reaped
	running bool
}

var children = reaper{ended: map[int]chan struct{}{}}

// add takes on a child that was started and is waited for nowhere else. The channel
// is closed when it has ended.
func (r *reaper) add(pid int) <-chan struct{} {
	ended := make(chan struct{})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended[pid] = ended
	r.look(pid) // its end may have been signalled already
	if !r.running && len(r.ended) > 0 {
		r.running = true
		signals := make(chan os.Signal, 1) // one is as good as many: all children are looked at
		signal.Notify(signals, syscall.SIGCHLD)
		go r.reap(signals)
	}
	return ended
}

// has reports whether pid is a child that the reaper waits for.
func (r *reaper) has(pid int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended[pid] != nil
}

func (r *reaper) reap(signals chan os.Signal) {
	defer signal.Stop(signals)
	for !r.lookAtAll() {
		<-signals
	}
}

// lookAtAll reports whether no child is left.
func (r *reaper) lookAtAll() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for pid := range r.ended {
		r.look(pid)
	}
	r.running = len(r.ended) > 0
	return !r.running
}

// look reaps a child that has ended. r.mu is held.
func (r *reaper) look(pid int) {
	got, err := syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
	for errors.Is(err, syscall.EINTR) {
		got, err = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
	}
	if got == pid || err != nil { // an error says that it is no longer a child
		close(r.ended[pid])
		delete(r.ended, pid)
	}
}
