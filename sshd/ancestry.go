package sshd

import (
	"errors"
	"fmt"

	"berth/sessions/hold"
)

var errProcessGone = errors.New("the process has ended")

// origin returns the holder that a process descends from; nil if the process is outside of all
// sessions. It returns an error for a process inside a session whose holder isn't in holders,
// because the holder belongs to another server or has died. alive says that pid has been the same
// process all the time.
func origin(pid int, holders []HolderProcess, alive func() bool) (*HolderProcess, error) {
	h, err := holderOf(pid, holders, hold.Walk)
	if err == nil && h == nil {
		err = checkCgroup(pid)
	}
	if err == nil && h == nil {
		if err = hold.CheckOutside(pid); err != nil {
			err = fmt.Errorf("%w: use a terminal outside of it", err)
		}
	}
	if !alive() {
		return nil, errProcessGone
	}
	return h, err
}

// checkCgroup refuses a process in the cgroup of a session. Which session is not known by that: a process of
// the server's own user can enter another session's cgroup. One can also leave, so the other signs are looked
// at too.
func checkCgroup(pid int) error {
	id, err := hold.CgroupSession(pid)
	if err != nil || id == "" {
		return err
	}
	return fmt.Errorf("process %d is in the cgroup of the session %s and descends from no holder of this server: use a terminal outside of it", pid, id)
}

// errFound ends a walk.
var errFound = errors.New("a holder is found")

// holderOf finds the nearest holder that pid descends from; nil if there is none. Holders are child
// subreapers, so orphans of a session's programs still descend from its holder.
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
