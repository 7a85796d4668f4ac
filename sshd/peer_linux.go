package sshd

import (
	"bytes"
	"errors"
	"fmt"
	"net"
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

// peerOf asks the kernel who connected. The process is held by a pidfd (Linux
// 6.5) or, before that, by its start time.
func peerOf(conn *net.UnixConn) (*peer, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	var cred *unix.Ucred
	pidfd := -1
	e := raw.Control(func(fd uintptr) {
		cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
		if f, e := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PEERPIDFD); e == nil {
			pidfd = f
		}
	})
	if err = errors.Join(e, err); err != nil {
		return nil, err
	}
	if cred.Pid <= 0 {
		return nil, errors.New("it is in another process namespace")
	}
	p := &peer{pid: int(cred.Pid), uid: int(cred.Uid), close: func() {}}
	if pidfd >= 0 {
		p.close = func() { _ = unix.Close(pidfd) }
		p.alive = func() bool { return unix.PidfdSendSignal(pidfd, 0, nil, 0) != unix.ESRCH }
	} else {
		first, err := readProcess(p.pid)
		p.alive = func() bool {
			again, e := readProcess(p.pid)
			return err == nil && e == nil && again.start == first.start
		}
	}
	if !p.alive() {
		p.close()
		return nil, errProcessGone
	}
	return p, nil
}
