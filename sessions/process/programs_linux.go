package process

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Finds reports whether Programs knows any process.
const Finds = true

// programsMost bounds how many processes of a foreground are read.
const programsMost = 64

// relays are programs that give what they run a terminal of its own, and pass on what is typed.
var relays = map[string]bool{"sudo": true, "su": true, "doas": true, "script": true}

// Programs are the processes of the foreground process group front and what they have started on the
// same terminal, parents first. A relay such as sudo may run its command on a terminal of its own, and su -c runs
// it in a session without a controlling terminal, with the relay's own as input and output.
func Programs(front int) (list []Program) {
	type entry struct {
		pid, parent int
		tty         string // the terminal that it must have; empty for any
		relayed     bool   // a relay has started it
	}
	queue := []entry{{pid: front}}
	for i := 0; i < len(queue) && i < programsMost; i++ {
		e := queue[i]
		s, ok := readStat(e.pid)
		if !ok || e.tty != "" && s.tty != e.tty && !relays[s.name] {
			continue // a multiplexer's program has another terminal than the one that the session shows
		}
		// A tool of an agent has a process group of its own, and so has the part of sudo that watches the command.
		inFront := s.group == s.front || e.relayed && s.tty == noTTY
		if inFront {
			list = append(list, Program{
				PID: e.pid, Parent: e.parent, Start: s.start, UID: uid(e.pid), Argv: argv(e.pid), Exe: exe(e.pid), Terminal: onTerminal(e.pid),
			})
		}
		below := entry{parent: e.pid, tty: s.tty, relayed: e.relayed}
		switch {
		case relays[s.name]:
			below = entry{relayed: true}
		case !inFront:
			continue
		}
		for _, child := range children(e.pid) {
			below.pid = child
			queue = append(queue, below)
		}
	}
	return list
}

// InFront reports whether the process with that start time, one of Programs, is still in the foreground of its
// terminal. One without a controlling terminal has no foreground: it is there until it ends.
func InFront(pid int, start string) bool {
	s, ok := readStat(pid)
	return ok && s.start == start && (s.group == s.front || s.tty == noTTY) && s.state != "Z" && s.state != "X"
}

// Runs reports whether the process with that start time is there, in the foreground or not.
func Runs(pid int, start string) bool {
	s, ok := readStat(pid)
	return ok && s.start == start && s.state != "Z" && s.state != "X"
}

// Environ is the environment that the process was started with; nil when the system doesn't tell.
func Environ(pid int) []string {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, environMost+1)) // a process makes it as long as it likes (PR_SET_MM_MAP)
	if err != nil || len(data) > environMost {
		return nil
	}
	return strings.Split(strings.TrimRight(string(data), "\x00"), "\x00")
}

// environMost bounds an environment that is read, in bytes.
const environMost = 1 << 20

// noTTY is the terminal of a process that has no controlling terminal.
const noTTY = "0"

type stat struct {
	name, state, session, tty, start string
	parent, group, front             int
}

func readStat(pid int) (s stat, ok bool) {
	var buf [512]byte
	data := readProc(buf[:], pid, "stat")
	begin, end := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
	if begin < 0 || end < begin {
		return s, false
	}
	fields := strings.Fields(string(data[end+1:])) // state ppid pgrp session tty tpgid ... start
	if len(fields) < 20 {
		return s, false
	}
	s = stat{name: string(data[begin+1 : end]), state: fields[0], session: fields[3], tty: fields[4], start: fields[19]}
	s.parent, _ = strconv.Atoi(fields[1])
	s.group, _ = strconv.Atoi(fields[2])
	s.front, _ = strconv.Atoi(fields[5])
	return s, true
}

func children(pid int) (pids []int) {
	var buf [4096]byte
	own := strconv.Itoa(pid)
	for word := range bytes.FieldsSeq(readProc(buf[:], pid, "task/"+own+"/children")) {
		if child, err := strconv.Atoi(string(word)); err == nil {
			pids = append(pids, child)
		}
	}
	return pids
}

// argv is the command line, as the process shows it. Any process may show what it likes.
func argv(pid int) []string {
	var buf [4096]byte
	data := readProc(buf[:], pid, "cmdline")
	return strings.Split(string(bytes.TrimRight(data, "\x00")), "\x00")
}

func exe(pid int) string {
	path, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
	if err != nil {
		return ""
	}
	return filepath.Clean(strings.TrimSuffix(path, " (deleted)"))
}

// uid is the user of a process whose real, effective and saved users are one; else -1.
func uid(pid int) int {
	var buf [2048]byte
	for line := range bytes.Lines(readProc(buf[:], pid, "status")) {
		rest, ok := bytes.CutPrefix(line, []byte("Uid:"))
		if !ok {
			continue
		}
		ids := strings.Fields(string(rest))
		if len(ids) < 3 || ids[0] != ids[1] || ids[1] != ids[2] {
			return -1
		}
		id, err := strconv.Atoi(ids[0])
		if err != nil {
			return -1
		}
		return id
	}
	return -1
}

// onTerminal is false when standard input or output is known to be no terminal.
func onTerminal(pid int) bool {
	for _, fd := range []string{"0", "1"} {
		path, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/fd/" + fd)
		if err == nil && !strings.HasPrefix(path, "/dev/pts/") && !strings.HasPrefix(path, "/dev/tty") && path != "/dev/console" {
			return false
		}
	}
	return true
}

// Age is how long ago a process was started, by its start time; 0 when that isn't known.
func Age(start string) time.Duration {
	ticks, err := strconv.ParseInt(start, 10, 64)
	var up unix.Timespec
	if err != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &up) != nil {
		return 0
	}
	return max(time.Duration(up.Nano())-time.Duration(ticks)*tick, 0)
}

// tick is the unit of start times: Linux reports them in hundredths of a second on all of Go's systems.
const tick = 10 * time.Millisecond
