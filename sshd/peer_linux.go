package sshd

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// readProcess reads what holderOf needs of /proc/PID/stat.
func readProcess(pid int) (process, error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		return process{}, errProcessGone
	}
	if err != nil {
		return process{}, err
	}
	return parseStat(pid, b)
}

// parseStat takes parent (field 4) and start time (field 22) out of a stat
// line. The second field, the program's name, may hold blanks and brackets.
func parseStat(pid int, b []byte) (process, error) {
	end := bytes.LastIndexByte(b, ')')
	fields := bytes.Fields(b[end+1:])
	if end < 0 || len(fields) < 20 {
		return process{}, fmt.Errorf("/proc/%d/stat is not understood", pid)
	}
	parent, err1 := strconv.Atoi(string(fields[4-3]))
	start, err2 := strconv.ParseUint(string(fields[22-3]), 10, 64)
	if err := errors.Join(err1, err2); err != nil {
		return process{}, fmt.Errorf("/proc/%d/stat: %w", pid, err)
	}
	return process{pid: pid, parent: parent, start: start}, nil
}
