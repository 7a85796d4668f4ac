package faults

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// alive reports whether a process exists and isn't a zombie.
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

// descendants are the living processes below one.
func descendants(pid int) []int {
	children := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(rest)
		if len(fields) < 2 || fields[0] == "Z" {
			continue
		}
		parent, _ := strconv.Atoi(fields[1])
		child, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		children[parent] = append(children[parent], child)
	}
	var all []int
	for next := []int{pid}; len(next) > 0; next = next[1:] {
		all = append(all, children[next[0]]...)
		next = append(next, children[next[0]]...)
	}
	return all
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	must(t, err)
	return strings.TrimSpace(string(out))
}
