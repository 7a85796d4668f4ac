package hold

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// bootID keeps a start time from one boot from matching one of the next.
var bootID = sync.OnceValue(func() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(id))
})

// lookProcess reads one entry of the process table.
func lookProcess(pid int) (process, error) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, fmt.Errorf("inspect process %d: %w", pid, err)
	}
	return parseStat(pid, stat)
}

// kernelThread is PF_KTHREAD of the kernel's sched.h.
const kernelThread = 0x200000

// parseStat reads a line of /proc/PID/stat.
func parseStat(pid int, stat []byte) (process, error) {
	// "pid (name) state ppid ...": the name may hold anything. The start
	// time is field 22, the 20th after the name.
	behind := bytes.LastIndexByte(stat, ')')
	fields := bytes.Fields(stat[behind+1:])
	if behind < 0 || len(fields) < 20 {
		return process{}, fmt.Errorf("inspect process %d: its stat is short", pid)
	}
	parent, err := strconv.Atoi(string(fields[1]))
	if err != nil {
		return process{}, fmt.Errorf("inspect process %d: %w", pid, err)
	}
	flags, err := strconv.ParseUint(string(fields[6]), 10, 64)
	if err != nil {
		return process{}, fmt.Errorf("inspect process %d: %w", pid, err)
	}
	state := fields[0][0]
	return process{
		pid:    pid,
		parent: parent,
		name:   string(stat[min(bytes.IndexByte(stat, '(')+1, behind):behind]),
		start:  string(fields[19]) + "@" + bootID(),
		dead:   state == 'Z' || state == 'X',
		kernel: flags&kernelThread != 0,
	}, nil
}

// listProcesses reads the process table. Processes that end meanwhile are
// left out.
func listProcesses() ([]process, error) {
	d, err := os.Open("/proc")
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	var all []process
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, err := lookProcess(pid); err == nil {
			all = append(all, p)
		}
	}
	return all, nil
}

// becomeSubreaper makes orphans below this process its children, so that none
// gets out of the session's tree.
func becomeSubreaper() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("becoming a subreaper: %w", err)
	}
	return nil
}

// reapsAll says that no child left means no process left in the tree.
const reapsAll = true

// signalProcess sends to p only, never to a later process with its pid.
func signalProcess(p process, sig syscall.Signal) error {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err != nil {
		if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) {
			return unix.Kill(p.pid, sig)
		}
		return err
	}
	defer unix.Close(fd)
	if now, err := lookProcess(p.pid); err != nil || now.start != p.start {
		return unix.ESRCH
	}
	return unix.PidfdSendSignal(fd, sig, nil, 0)
}

// isHolder says whether a process was started as a holder. No other process can take
// one out of the line of their parents, and who puts one in is further from others.
func isHolder(pid int) bool {
	// A holder's line is a path and its one word: what is longer is not one.
	line, err := readHead("/proc/"+strconv.Itoa(pid)+"/cmdline", unix.PathMax+int64(len(holderWord))+2)
	words := bytes.Split(bytes.TrimSuffix(line, []byte{0}), []byte{0})
	return err == nil && len(words) == 2 && string(words[1]) == holderWord
}

// programOf is the file that a holder was started from, also when it has been replaced since.
func programOf(_ string, pid int) string { return fmt.Sprintf("/proc/%d/exe", pid) }

// runnable is a path to run an open file by, also when another one has its name by now.
func runnable(file *os.File) string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), file.Fd()) }
