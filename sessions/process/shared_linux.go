package process

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// mostProcesses bounds how many processes of a session are read before a key. With more, a program of interest may be
// among the rest.
const mostProcesses = 4096

// Shared reports whether another program may take what is typed at the terminal of pid, which descends from top:
// one that has the terminal as its standard input, and that job control doesn't keep from reading, because it is in a
// session of its own or in the terminal's foreground. What a program starts with its own standard input, such as a
// sandbox, is one with it.
func Shared(top, pid int) bool {
	type entry struct {
		pid int
		of  bool // its parent is pid, or was given pid's standard input
	}
	own, ok := readStat(pid)
	terminal := inputOf(pid)
	if !ok || terminal == (unix.Stat_t{}) {
		return false // not known
	}
	queue := []entry{{pid: top}}
	for i := 0; i < len(queue); i++ {
		if i == mostProcesses {
			return true
		}
		e := queue[i]
		input := inputOf(e.pid)
		s, ok := readStat(e.pid)
		inSession := ok && s.session == own.session
		has := input.Rdev == terminal.Rdev && input.Dev == terminal.Dev && input.Ino == terminal.Ino || inSession && input.Rdev == ownTerminal
		of := e.pid == pid || e.of && has
		if ok && has && !of && (!inSession || s.group == s.front) {
			return true
		}
		for _, child := range allChildren(e.pid) {
			queue = append(queue, entry{child, of})
		}
	}
	return false
}

// ownTerminal is the device /dev/tty, a process's controlling terminal (TTYAUX_MAJOR of linux/major.h).
var ownTerminal = unix.Mkdev(5, 0)

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
	for _, thread := range threads {
		list, err := os.ReadFile(tasks + "/" + thread.Name() + "/children")
		if err != nil {
			continue // it has ended, and its children are the main one's
		}
		for word := range bytes.FieldsSeq(list) {
			if child, err := strconv.Atoi(string(word)); err == nil {
				pids = append(pids, child)
			}
		}
	}
	return pids
}
