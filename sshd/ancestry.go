package sshd

import (
	"errors"
	"fmt"

	"berth/sessions/hold"
)

var errProcessGone = errors.New("the process has ended")

// origin gives the holder that a process descends from; nil for a process that
// is outside of all sessions. One inside a session that is not among holders,
// because its holder is another server's or has died, is an error. alive says that
// pid has been the same process all along.
func origin(pid int, holders []HolderProcess, alive func() bool) (*HolderProcess, error) {
	h, err := holderOf(pid, holders, hold.Walk)
	if err == nil && h == nil {
		if err = hold.CheckOutside(pid); err != nil {
			err = fmt.Errorf("%w: call from a terminal outside of it", err)
		}
	}
	if !alive() {
		return nil, errProcessGone
	}
	return h, err
}

// errFound ends a walk.
var errFound = errors.New("a holder is found")

// holderOf finds the holder that pid descends from: the nearest one, nil for
// none. Holders are child subreapers, so that what a session's programs leave
// behind still descends from its holder.
func holderOf(pid int, holders []HolderProcess, walk func(int, func(hold.Process) error) error) (*HolderProcess, error) {
	if len(holders) == 0 {
		return nil, nil
	}
	var found *HolderProcess
	err := walk(pid, func(p hold.Process) error {
		for i := range holders {
			if holders[i].PID == p.PID && holders[i].Start == p.Start {
				found = &holders[i]
				return errFound
			}
		}
		return nil
	})
	if errors.Is(err, errFound) {
		err = nil
	}
	return found, err
}
