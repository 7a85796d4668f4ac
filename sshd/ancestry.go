package sshd

import (
	"errors"
	"fmt"

	"berth/sessions/hold"
)

// process is one line of the process table.
type process struct {
	pid, parent int
	start       uint64 // clock ticks since boot
}

// maxDepth bounds a walk up the process tree.
const maxDepth = 256

var errProcessGone = errors.New("the process has ended")

// errMoved is a process tree that changed under the walk.
var errMoved = errors.New("the process tree changed while it was read")

// origin gives the holder that a process descends from; nil for a process that
// is outside of all sessions. One inside a session that is not among holders,
// because its holder is another server's or has died, is an error.
func origin(pid int, holders []HolderProcess, alive func() bool) (*HolderProcess, error) {
	h, err := holderOf(pid, holders, alive)
	if h != nil || err != nil {
		return h, err
	}
	err = hold.CheckOutside(pid)
	if !alive() {
		return nil, errProcessGone
	}
	if err != nil {
		return nil, fmt.Errorf("%w: call from a terminal outside of it", err)
	}
	return nil, nil
}

// holderOf finds the holder that pid descends from: the nearest one, nil for
// none. Holders are child subreapers, so that what a session's programs leave
// behind still descends from its holder. alive says that pid has been the
// same process all along.
func holderOf(pid int, holders []HolderProcess, alive func() bool) (*HolderProcess, error) {
	if len(holders) == 0 {
		return nil, nil
	}
	var err error
	for range 5 {
		var h *HolderProcess
		h, err = walkUp(pid, holders, readProcess)
		if !alive() {
			return nil, errProcessGone
		}
		if !errors.Is(err, errMoved) {
			return h, err
		}
	}
	return nil, err
}

// walkUp follows parents from pid to a holder or to the top. A parent that
// started after its child has taken the number of one that is gone.
func walkUp(pid int, holders []HolderProcess, read func(int) (process, error)) (*HolderProcess, error) {
	p, err := read(pid)
	if err != nil {
		return nil, fmt.Errorf("process %d: %w", pid, err)
	}
	for range maxDepth {
		for i := range holders {
			if holders[i].PID == p.pid && holders[i].Start == p.start {
				return &holders[i], nil
			}
		}
		if p.parent <= 1 {
			return nil, nil
		}
		up, err := read(p.parent)
		if errors.Is(err, errProcessGone) || err == nil && up.start > p.start {
			return nil, errMoved
		}
		if err != nil {
			return nil, fmt.Errorf("process %d: %w", p.parent, err)
		}
		p = up
	}
	return nil, fmt.Errorf("process %d has more than %d ancestors", pid, maxDepth)
}
