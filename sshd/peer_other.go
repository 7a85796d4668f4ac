//go:build !linux

package sshd

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// peerOf gives the peer's uid. Which session a process descends from is told
// on Linux only, where holders are child subreapers.
func peerOf(conn *net.UnixConn) (*peer, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	var cred *unix.Xucred
	pid := 0
	e := raw.Control(func(fd uintptr) {
		cred, err = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
		if err == nil {
			pid, err = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID)
		}
	})
	if err = errors.Join(e, err); err != nil {
		return nil, err
	}
	return &peer{pid: pid, uid: int(cred.Uid), alive: func() bool { return true }, close: func() {}}, nil
}

func readProcess(int) (process, error) {
	return process{}, errors.New("the process tree is read on Linux only")
}

func callerOverTCP(_, _ net.Addr, _ []HolderProcess) (*HolderProcess, int, error) {
	return nil, 0, errors.New("the owner of a TCP connection is known on Linux only")
}
