package hold

import (
	"errors"
	"io/fs"
	"slices"
	"testing"
)

// The walk up the process tree, on tables that no kernel can be made to show.
func TestWalkUp(t *testing.T) {
	table := map[int]process{
		1: {pid: 1}, 10: {pid: 10, parent: 1, start: "100"}, 20: {pid: 20, parent: 10, start: "200"}, 30: {pid: 30, parent: 20, start: "200"},
		60: {pid: 60, parent: 70, start: "10"}, // 70 is hidden (hidepid=2)
		61: {pid: 61, parent: 60, start: "11"},
		62: {pid: 62, parent: 71, start: "12"}, // 71 may not be read (hidepid=1)
		63: {pid: 63, parent: 72, start: "13"}, // 72 is not understood
		80: {pid: 80, parent: 80, start: "5"},  // its own parent
	}
	unclear := errors.New("not understood")
	read := func(pid int) (process, error) {
		p, ok := table[pid]
		switch {
		case pid == 71:
			return p, fs.ErrPermission
		case pid == 72:
			return p, unclear
		case !ok:
			return p, fs.ErrNotExist
		}
		return p, nil
	}
	walk := func(pid int) ([]int, error) {
		var seen []int
		err := walkUp(pid, read, func(p process) error {
			seen = append(seen, p.pid)
			return nil
		})
		return seen, err
	}
	for pid, want := range map[int][]int{30: {30, 20, 10}, 10: {10}, 1: {1}, 60: {60}, 61: {61, 60}, 62: {62}} {
		if got, err := walk(pid); err != nil || !slices.Equal(got, want) {
			t.Errorf("%d: %v %v, want %v", pid, got, err, want)
		}
	}
	if _, err := walk(99); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a process that is gone: %v", err)
	}
	if _, err := walk(63); !errors.Is(err, unclear) {
		t.Errorf("a parent that cannot be read: %v", err)
	}
	if _, err := walk(80); err == nil {
		t.Error("a loop ends well")
	}
	found := errors.New("found")
	if err := walkUp(30, read, func(p process) error {
		if p.pid == 20 {
			return found
		}
		return nil
	}); !errors.Is(err, found) {
		t.Errorf("what look says: %v", err)
	}
}

// A holder takes a server whose login program is hidden from both (hidepid).
func TestDescendsBelowHidden(t *testing.T) {
	table := map[int]process{
		1: {pid: 1}, 10: {pid: 10, parent: 1}, 20: {pid: 20, parent: 10},
		60: {pid: 60, parent: 70}, 61: {pid: 61, parent: 60}, // 70 is hidden
	}
	read := func(pid int) (process, error) {
		p, ok := table[pid]
		if !ok {
			return p, fs.ErrNotExist
		}
		return p, nil
	}
	for _, c := range []struct {
		pid, root int
		want      bool
	}{{61, 20, false}, {60, 20, false}, {61, 60, true}, {60, 60, true}, {20, 10, true}, {20, 61, false}} {
		if got, err := descends(c.pid, c.root, read); err != nil || got != c.want {
			t.Errorf("%d below %d: %v %v, want %v", c.pid, c.root, got, err, c.want)
		}
	}
	if _, err := descends(99, 20, read); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a process that is gone: %v", err)
	}
}

// A parent that ends while it is looked for has left its child to another: nothing
// above is passed over.
func TestWalkUpMoves(t *testing.T) {
	ended := false
	read := func(pid int) (process, error) {
		switch {
		case pid == 30 && !ended:
			ended = true // its parent, after it was read
			return process{pid: 30, parent: 20, start: "3"}, nil
		case pid == 30:
			return process{pid: 30, parent: 10, start: "3"}, nil
		case pid == 10:
			return process{pid: 10, parent: 1, start: "1"}, nil
		}
		return process{}, fs.ErrNotExist
	}
	var seen []int
	err := walkUp(30, read, func(p process) error {
		seen = append(seen, p.pid)
		return nil
	})
	if err != nil || seen[len(seen)-1] != 10 {
		t.Errorf("%v %v", seen, err)
	}
}
