package process

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// mostProcesses bounds how many processes of a session are read before a key. With more, a program of interest may be
// among the rest.
const mostProcesses = 4096

// Shared reports whether another program may take what is typed for agent: pid, the session's program, or what a person has
// started in it. Both descend from top. A relay such as sudo gives agent a terminal of its own.
func Shared(top, pid, agent int) bool {
	if sharedAt(top, pid, agent) {
		return true
	}
	return agent != pid && inputOf(agent) != inputOf(pid) && sharedAt(top, agent, agent)
}

// sharedAt reports whether another program may take what is typed at the terminal of pid: one that has the terminal as
// its standard input, or has opened it by its name, and that job control doesn't keep from reading, because it is in a
// session of its own or in the terminal's foreground. What agent starts with its own standard input, such as a sandbox,
// is one with it, and so are what has started agent, and pid.
func sharedAt(top, pid, agent int) bool {
	type entry struct {
		pid int
		of  bool // its parent is agent, or was given agent's standard input
	}
	own, ok := readStat(pid)
	terminal := inputOf(pid)
	if !ok || terminal == (unix.Stat_t{}) {
		return false // not known
	}
	above := map[int]bool{top: true}
	for at := agent; at > 1 && !above[at]; {
		above[at] = true
		s, _ := readStat(at)
		at = s.parent
	}
	above[pid] = true
	left := mostOfAll
	queue := []entry{{pid: top}}
	for i := 0; i < len(queue); i++ {
		if i == mostProcesses {
			return true
		}
		e := queue[i]
		input := inputOf(e.pid)
		s, ok := readStat(e.pid)
		inSession := ok && s.session == own.session
		has := input.Rdev == terminal.Rdev && input.Dev == terminal.Dev && input.Ino == terminal.Ino || input.Rdev == ownTerminal
		of := e.pid == agent || e.of && has
		if ok && !of && !above[e.pid] && (!inSession || s.group == s.front) && (has || opensTerminal(e.pid, &left)) {
			return true
		}
		for _, child := range allChildren(e.pid) {
			queue = append(queue, entry{child, of})
		}
	}
	return false
}

// ownTerminal is the device /dev/tty: a process's controlling terminal as it opened that (TTYAUX_MAJOR of linux/major.h).
// It may have left that terminal's session since.
var ownTerminal = unix.Mkdev(5, 0)

// mostFiles bounds how many descriptors of a process are read, and mostOfAll those of all processes, which takes 0.1 s. One with more
// may read any terminal.
const (
	mostFiles = 16384
	mostOfAll = 4 * mostFiles
)

// opensTerminal reports whether a process has opened /dev/tty to read it, as agents and pagers do whose standard input
// is something else. It takes what it reads from left.
func opensTerminal(pid int, left *int) bool {
	dir, err := os.Open("/proc/" + strconv.Itoa(pid) + "/fd")
	if err != nil {
		return false // its files may not be read
	}
	defer dir.Close()
	names, err := dir.Readdirnames(mostFiles)
	if *left -= len(names); len(names) == mostFiles || *left < 0 {
		return true
	}
	return err == nil && slices.ContainsFunc(names, func(fd string) bool {
		path, err := os.Readlink(dir.Name() + "/" + fd)
		if err != nil || path != "/dev/tty" {
			return false
		}
		link, err := os.Lstat(dir.Name() + "/" + fd)
		return err == nil && link.Mode().Perm()&0o400 != 0 // how it was opened
	})
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
