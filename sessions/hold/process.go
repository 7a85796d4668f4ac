package hold

import (
	"errors"
	"fmt"
	"time"
)

const (
	// killEvery is the pause between two sweeps over what is left of a tree.
	killEvery = 10 * time.Millisecond
	// killFor bounds the sweeps: a process the kernel will not let die must
	// not keep the exit from being reported.
	killFor = 30 * time.Second
)

// process is one entry of the system's process table.
type process struct {
	pid, parent int
	name        string // of its program, at most 15 bytes of it
	// start distinguishes two processes with the same pid. It is opaque.
	start string
	// dead says that it only waits to be reaped.
	dead bool
	// kernel says that it is a thread of the kernel.
	kernel bool
}

// alive reports whether the process with this pid and start still runs.
func alive(pid int, start string) bool {
	p, err := lookProcess(pid)
	return err == nil && !p.dead && p.start == start
}

// descendants returns the living processes below root.
func descendants(root int) ([]process, error) {
	all, err := listProcesses()
	if err != nil {
		return nil, err
	}
	children := make(map[int][]process)
	for _, p := range all {
		children[p.parent] = append(children[p.parent], p)
	}
	var found []process
	seen := map[int]bool{root: true}
	for todo := []int{root}; len(todo) > 0; {
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, p := range children[next] {
			if seen[p.pid] {
				continue
			}
			seen[p.pid] = true
			todo = append(todo, p.pid)
			if !p.dead {
				found = append(found, p)
			}
		}
	}
	return found, nil
}

// below reports whether p runs below root. Parents may end meanwhile, and a
// pid be used again: a parent counts if it is still the parent after it was
// looked at.
func below(p process, root int) (bool, error) {
	for range 1 << 10 {
		if p.parent == root || p.parent <= 1 {
			return p.parent == root, nil
		}
		parent, err := lookProcess(p.parent)
		again, gone := lookProcess(p.pid)
		switch {
		case gone != nil:
			return false, gone
		case again.parent != p.parent:
			p = again // the parent ended: it has another one now
		case err != nil:
			return false, err
		default:
			p = parent
		}
	}
	return false, fmt.Errorf("process %d: its chain of parents doesn't end", p.pid)
}

// descends reports whether pid is root or below it. Above a process that is hidden from this user (hidepid),
// such as the login program of a server, nothing can be seen.
func descends(pid, root int, read func(int) (process, error)) (bool, error) {
	err := walkUp(pid, read, func(p process) error {
		if p.pid == root {
			return errBelow
		}
		return nil
	})
	if errors.Is(err, errBelow) {
		return true, nil
	}
	return false, err
}

// errBelow ends a walk.
var errBelow = errors.New("the process is below")
