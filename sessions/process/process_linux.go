// Package process says what the system knows of a session's program: who is in front of its
// terminal, whether that computes or is stopped, and what it has yet to read. On other systems
// than Linux it says that it does not know.
package process

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Foreground reads the process group of pid, that of its terminal's
// Foreground, and the latter's program. Zeros and an empty name say that the
// system does not tell.
func Foreground(pid int) (group, front int, program string) {
	name, _, group, front := status(pid)
	switch {
	case front <= 0:
		return group, 0, ""
	case front == pid:
		return group, front, name
	}
	var buf [32]byte // a name has 15 bytes
	// Without a name its leader is gone while the group lives on.
	return group, front, string(bytes.TrimSuffix(readProc(buf[:], front, "comm"), []byte("\n")))
}

// status reads pid's name, the state of its main thread as a letter, its process group, and
// that of its terminal's foreground; zeros when there is no such process.
func status(pid int) (name string, state byte, group, front int) {
	var buf [512]byte // a stat line has 52 numbers and a name of 15 bytes
	stat := readProc(buf[:], pid, "stat")
	// The name is in parentheses and may contain anything; fields are
	// counted after the last one: state ppid pgrp session tty tpgid.
	begin, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if begin < 0 || end < begin {
		return "", 0, 0, 0
	}
	field := 0
	for word := range bytes.FieldsSeq(stat[end+1:]) {
		switch field {
		case 0:
			state = word[0]
		case 2:
			group, _ = strconv.Atoi(string(word))
		case 5:
			front, _ = strconv.Atoi(string(word))
		}
		if field++; field > 5 {
			break
		}
	}
	return string(stat[begin+1 : end]), state, group, front
}

// Computing says that a program of pid's terminal's foreground, pid or what descends
// from it, has work that it wants a processor or a disk for: what it has read it may not
// have acted on yet. Its main thread alone counts, which reads the keys.
func Computing(pid int) bool {
	const most = 64 // an agent is one program, or two; its tools have groups of their own
	there, _ := inFront(pid, "RD", most, children, nil)
	return there
}

// Busy says that of those programs one that may read the terminal computes, or waits for a disk: it hasn't read the newest keys
// yet, or hasn't acted on them. A helper that reads from a pipe doesn't count.
func Busy(pid int) bool {
	const most = 64
	there, _ := inFront(pid, "RD", most, children, func(pid int) bool {
		from, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/fd/0")
		return err != nil || strings.HasPrefix(from, "/dev/pts/")
	})
	return there
}

// Halted says that pid or such a program is stopped by a signal or by a debugger: what it
// has drawn may be long past. Any process of the terminal's session can take pid, and what it has started to read
// the keys, out of the foreground. Among more processes than are read one may be stopped.
func Halted(pid int) bool {
	if Stopped(pid) {
		return true
	}
	there, more := inFront(pid, "Tt", mostProcesses, allChildren, nil)
	return there || more
}

// inFront says whether a program of pid's terminal's foreground, or of pid's process group, pid or what descends from
// it, is in one of these states. more: there are more processes than most, and the rest weren't read.
// Only one that counts is looked at, if counts isn't nil.
func inFront(pid int, states string, most int, children func(int) []int, counts func(int) bool) (there, more bool) {
	pids := []int{pid}
	_, _, own, _ := status(pid)
	for i := 0; i < len(pids); i++ {
		if i == most {
			return false, true
		}
		_, state, group, front := status(pids[i])
		if (group == front || group == own) && state != 0 && strings.IndexByte(states, state) >= 0 && (counts == nil || counts(pids[i])) {
			return true, false
		}
		pids = append(pids, children(pids[i])...)
	}
	return false, false
}

// Stopped says that one process is stopped by a signal or by a debugger.
func Stopped(pid int) bool {
	_, state, _, _ := status(pid)
	return state == 'T' || state == 't'
}

// Unread is how many bytes lie in the input of pid's terminal that no program has
// read; -1 when the system does not tell.
func Unread(pid int) int {
	fd, err := openTerminal(pid)
	if err != nil {
		return -1
	}
	defer unix.Close(fd)
	n, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
	if err != nil {
		return -1
	}
	return n
}

// openTerminal opens the standard input of a process if that is a pseudoterminal. The process chooses its
// input, and needs no right to read it (O_PATH); a server that is root would open any device for it. errShut is a terminal
// that can't be opened: another process may have taken the right to it (chmod), or have it for itself (TIOCEXCL).
func openTerminal(pid int) (fd int, err error) {
	path, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/fd/0", unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(path)
	var st unix.Stat_t
	if err := unix.Fstat(path, &st); err != nil {
		return -1, err
	}
	if major := unix.Major(uint64(st.Rdev)); st.Mode&unix.S_IFMT != unix.S_IFCHR || major < firstTerminal || major > lastTerminal {
		return -1, unix.ENOTTY
	}
	fd, err = unix.Open("/proc/self/fd/"+strconv.Itoa(path), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, errShut
	}
	return fd, nil
}

var errShut = errors.New("the terminal can't be opened")

// firstTerminal and lastTerminal are the major numbers of pseudoterminals (UNIX98_PTY_SLAVE_MAJOR of linux/major.h).
const (
	firstTerminal = 136
	lastTerminal  = 143
)

// Held says that what is typed at pid's terminal may wait there, or that what its programs draw
// does: any process of the terminal's user can do that. Its output is stopped (tcflow); its line
// discipline passes nothing on; or bytes are unread. Where a program reads keys, a terminal that
// collects lines or several bytes keeps a key as well, and doesn't say that it is unread. One that alters input is held too.
func Held(pid int, readsKeys bool) bool {
	fd, err := openTerminal(pid)
	if err != nil {
		return errors.Is(err, errShut) // else it is not known
	}
	defer unix.Close(fd)
	mode, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil || readsKeys && (mode.Lflag&unix.ICANON != 0 || mode.Cc[unix.VMIN] > 1 || alters(mode)) {
		return true
	}
	unread, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
	if err != nil || unread > 0 {
		return true
	}
	takes := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
	n, err := unix.Poll(takes, 0)
	return n == 0 || err != nil && !errors.Is(err, unix.EINTR)
}

// changes are modes of a terminal that change what is typed, or drop it. No agent sets them.
const changes = unix.ISTRIP | unix.IUCLC | unix.INLCR | unix.IGNCR

// alters reports whether a terminal changes what is typed, takes a part of it out, or draws it by itself, in the place of
// a program that doesn't. A flow or signal character is taken out, so one that is also typed breaks what it is a part of,
// such as the marks of a paste.
func alters(mode *unix.Termios) bool {
	taken := func(flag bool, chars ...int) bool {
		return flag && slices.ContainsFunc(chars, func(c int) bool { return mode.Cc[c] >= ' ' || strings.IndexByte("\x1b\r\n\t", mode.Cc[c]) >= 0 })
	}
	return mode.Iflag&changes != 0 || mode.Lflag&unix.ECHO != 0 ||
		taken(mode.Iflag&unix.IXON != 0, unix.VSTART, unix.VSTOP) || taken(mode.Lflag&unix.ISIG != 0, unix.VINTR, unix.VQUIT, unix.VSUSP)
}

// Changes reports whether pid's terminal alters what is typed, as any process of the terminal's user can have it do: the
// letters of many languages have bytes that are Escape, Enter or a digit without their highest bit.
func Changes(pid int) bool {
	fd, err := openTerminal(pid)
	if err != nil {
		return errors.Is(err, errShut) // else it is not known
	}
	defer unix.Close(fd)
	mode, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	return err != nil || alters(mode)
}

// Sized reports whether pid's terminal has that size. Any process of the terminal's user can set another one, and
// the programs then draw for that.
func Sized(pid, cols, rows int) bool {
	fd, err := openTerminal(pid)
	if err != nil {
		return !errors.Is(err, errShut) // else it is not known
	}
	defer unix.Close(fd)
	size, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
	return err != nil || int(size.Col) == cols && int(size.Row) == rows
}

// readProc reads what fits into buf of a file of /proc, and nothing if there is
// none. It is done a hundred times a second with a hundred sessions:
// os.ReadFile, which prepares for files that block and for long ones, takes
// four times as many system calls.
func readProc(buf []byte, pid int, name string) []byte {
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/"+name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	for {
		n, err := unix.Read(fd, buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		return buf[:max(n, 0)]
	}
}
