package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// acknowledge makes the kernel acknowledge received data now.
func acknowledge(c *net.TCPConn) {
	raw, err := c.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_QUICKACK, 1) })
}

// cpuOf is the CPU time that a process has used, in nanoseconds. /proc is less precise.
func cpuOf(pid int) (time.Duration, error) {
	// A process's CPU clock, as clock_getcpuclockid(3) makes it: the complement of the pid, shifted by
	// three bits, and 2 for the time of all its threads.
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|2), &t); err != nil {
		return 0, fmt.Errorf("the CPU time of process %d: %w", pid, err)
	}
	return time.Duration(t.Nano()), nil
}

// privateOf is the memory that a process shares with no other, in bytes.
func privateOf(pid int) (total int64, err error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(data) {
		var kind string
		var kb int64
		if n, _ := fmt.Sscan(string(line), &kind, &kb); n == 2 && (kind == "Private_Clean:" || kind == "Private_Dirty:") {
			total += kb << 10
		}
	}
	return total, nil
}

// ownCPU is the CPU time of this process.
func ownCPU() (time.Duration, error) { return cpuOf(os.Getpid()) }

// readStat returns the fields of a process's stat file after its name.
func readStat(path string) ([]string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	_, rest, ok := strings.Cut(string(data), ") ")
	if !ok {
		return nil, fmt.Errorf("%s isn't a process's stat file", path)
	}
	return strings.Fields(rest), nil
}
