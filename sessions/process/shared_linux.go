package process

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// sharedMost bounds how many processes Shared reads.
const sharedMost = 256

// Shared reports whether another program may take what is typed at the terminal of pid, which descends from top:
// one that was given the terminal as its standard input, in a session of its own. Job control doesn't keep such a
// program from reading. What a program starts with its own standard input, such as a sandbox, is one with it.
func Shared(top, pid int) bool {
	type entry struct {
		pid int
		has bool // its parent has the terminal as its standard input
	}
	own, ok := readStat(pid)
	terminal := inputOf(pid)
	if !ok || terminal == (unix.Stat_t{}) {
		return false // not known
	}
	queue := []entry{{pid: top}}
	for i := 0; i < len(queue) && i < sharedMost; i++ {
		e := queue[i]
		input := inputOf(e.pid)
		has := input.Rdev == terminal.Rdev && input.Dev == terminal.Dev && input.Ino == terminal.Ino
		if s, ok := readStat(e.pid); ok && has && !e.has && e.pid != pid && s.session != own.session {
			return true
		}
		for _, child := range allChildren(e.pid) {
			queue = append(queue, entry{child, has})
		}
	}
	return false
}

// inputOf is the standard input of a process if that is a terminal, and nothing else.
func inputOf(pid int) (st unix.Stat_t) {
	name := "/proc/" + strconv.Itoa(pid) + "/fd/0"
	if path, err := os.Readlink(name); err != nil || !strings.HasPrefix(path, "/dev/") {
		return st // it may be a file of a system that doesn't answer
	}
	if err := unix.Stat(name, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFCHR {
		return unix.Stat_t{}
	}
	return st
}

// allChildren are what all threads of a process have started. Orphans are children of the main one.
func allChildren(pid int) (pids []int) {
	tasks := "/proc/" + strconv.Itoa(pid) + "/task"
	threads, err := os.ReadDir(tasks)
	if err != nil {
		return nil
	}
	var buf [4096]byte
	for _, thread := range threads {
		for word := range bytes.FieldsSeq(readProc(buf[:], pid, "task/"+thread.Name()+"/children")) {
			if child, err := strconv.Atoi(string(word)); err == nil {
				pids = append(pids, child)
			}
		}
	}
	return pids
}
