package faults

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// alive says whether a process is there and no zombie.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, ok := bytes.Cut(stat, []byte(") "))
	return ok && rest[0] != 'Z' && rest[0] != 'X'
}

func cmdline(pid int) string {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return string(data)
}

// memory sums fields of a process's smaps_rollup, in bytes.
func memory(t *testing.T, pid int, fields ...string) int64 {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	must(t, err)
	var sum int64
	for line := range strings.Lines(string(data)) {
		for _, field := range fields {
			if rest, ok := strings.CutPrefix(line, field+":"); ok {
				kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
				must(t, err)
				sum += kb << 10
			}
		}
	}
	return sum
}

func anonymous(t *testing.T, pid int) int64 { return memory(t, pid, "Anonymous") }
func private(t *testing.T, pid int) int64 {
	return memory(t, pid, "Private_Clean", "Private_Dirty")
}

// cpu is the processor time that a process has used, to the nanosecond.
func cpu(pid int) time.Duration {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	var sum time.Duration
	for _, name := range threads {
		data, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		ns, _ := strconv.ParseInt(strings.Fields(string(data))[0], 10, 64)
		sum += time.Duration(ns)
	}
	return sum
}

func mib(bytes int64) string { return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20)) }
