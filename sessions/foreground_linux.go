package sessions

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// foreground reads the process group of pid, that of its terminal's
// foreground, and the latter's program. Zeros and an empty name say that the
// system does not tell.
func foreground(pid int) (group, front int, program string) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, ""
	}
	// The name stands in parentheses and may hold anything; fields are
	// counted behind the last one: state ppid pgrp session tty tpgid.
	end := bytes.LastIndexByte(stat, ')')
	if end < 0 {
		return 0, 0, ""
	}
	fields := strings.Fields(string(stat[end+1:]))
	if len(fields) < 6 {
		return 0, 0, ""
	}
	group, _ = strconv.Atoi(fields[2])
	front, _ = strconv.Atoi(fields[5])
	if front <= 0 {
		return group, 0, ""
	}
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", front))
	if err != nil {
		return group, front, "" // its leader is gone while the group lives on
	}
	return group, front, strings.TrimSuffix(string(name), "\n")
}
