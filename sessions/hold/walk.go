package hold

import (
	"errors"
	"fmt"
	"io/fs"
)

// A Process is one process: no later one with its pid has its start.
type Process struct {
	PID   int
	Start string
}

// Walk calls look for a process and those above it, the nearest first, until that
// gives an error, which Walk returns. The caller makes sure that the pid is the same
// process throughout.
func Walk(pid int, look func(Process) error) error {
	return walkUp(pid, lookProcess, func(p process) error { return look(Process{p.pid, p.start}) })
}

// Table reads all processes once, for many walks. A walk in it can go wrong where a
// process ended while the table was read.
func Table() (walk func(pid int, look func(Process) error) error, err error) {
	all, err := listProcesses()
	if err != nil {
		return nil, err
	}
	table := make(map[int]process, len(all))
	for _, p := range all {
		table[p.pid] = p
	}
	read := func(pid int) (process, error) {
		p, ok := table[pid]
		if !ok {
			return p, fs.ErrNotExist
		}
		return p, nil
	}
	return func(pid int, look func(Process) error) error {
		return walkUp(pid, read, func(p process) error { return look(Process{p.pid, p.start}) })
	}, nil
}

// walkUp calls look for a process and all that are above it, the nearest first.
// A parent that ended meanwhile has left its children to another one.
func walkUp(pid int, read func(int) (process, error), look func(process) error) error {
	var err error
	for range walks {
		var moved bool
		if moved, err = climb(pid, read, look); err == nil || !moved {
			return err
		}
	}
	return err
}

// climb is one try. It reports whether a parent ended on the way.
func climb(pid int, read func(int) (process, error), look func(process) error) (moved bool, err error) {
	p, err := read(pid)
	if err != nil {
		return false, err
	}
	for range 1 << 10 {
		if err := look(p); err != nil {
			again, gone := read(p.pid)
			return gone != nil || again.start != p.start, err
		}
		if p.parent <= 1 {
			return false, nil
		}
		up, err := read(p.parent)
		again, gone := read(p.pid)
		switch {
		case gone != nil:
			return p.pid != pid, gone
		case again.start != p.start, again.parent != p.parent && err != nil:
			return true, fmt.Errorf("process %d has another parent now", p.pid)
		case again.parent != p.parent:
			p = again
			continue // its new parent is above the old one
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission): // hidden from this user (hidepid): what is above cannot be seen
			return false, nil
		case err != nil:
			return false, err
		}
		p = up
	}
	return false, fmt.Errorf("process %d: its chain of parents doesn't end", pid)
}
