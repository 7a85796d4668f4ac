package hold

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// zombieState is SZOMB of sys/proc.h.
const zombieState = 5

func processOf(k *unix.KinfoProc) process {
	started := k.Proc.P_starttime
	return process{
		pid:    int(k.Proc.P_pid),
		parent: int(k.Eproc.Ppid),
		name:   unix.ByteSliceToString(k.Proc.P_comm[:]),
		start:  strconv.FormatInt(started.Sec*1e6+int64(started.Usec), 10),
		dead:   k.Proc.P_stat == zombieState,
	}
}

// lookProcess reads one entry of the process table.
func lookProcess(pid int) (process, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return process{}, fmt.Errorf("inspect process %d: %w", pid, err)
	}
	if int(k.Proc.P_pid) != pid {
		return process{}, fmt.Errorf("inspect process %d: %w", pid, syscall.ESRCH)
	}
	return processOf(k), nil
}

// listProcesses reads the process table.
func listProcesses() ([]process, error) {
	table, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	all := make([]process, 0, len(table))
	for i := range table {
		all = append(all, processOf(&table[i]))
	}
	return all, nil
}

// becomeSubreaper does nothing: the system has no such thing, and orphans of
// the session become init's.
func becomeSubreaper() error { return nil }

// reapsAll says that no child left means no process left in the tree.
const reapsAll = false

func signalProcess(p process, sig syscall.Signal) error {
	return unix.Kill(p.pid, sig)
}

// isHolder says whether a process was started as a holder. What the system gives is
// the number of arguments, the program's path, and the arguments.
func isHolder(pid int) bool {
	raw, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil || len(raw) < 4 || binary.NativeEndian.Uint32(raw) != 2 {
		return false
	}
	_, rest, _ := bytes.Cut(raw[4:], []byte{0})
	words := bytes.SplitN(bytes.TrimLeft(rest, "\x00"), []byte{0}, 3)
	return len(words) >= 2 && string(words[1]) == holderWord
}

// programOf is the file that a holder was started from: its session's folder has a link to it.
func programOf(dir string, _ int) string { return filepath.Join(dir, HookBinary) }

// runnable is the file's name: the system runs no open file.
func runnable(file *os.File) string { return file.Name() }
