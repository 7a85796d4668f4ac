package sshd

import (
	"cmp"
	"errors"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// socket is the kernel's socket at one end of a TCP connection.
type socket struct{ inode, uid uint32 }

var errSameAddresses = errors.New("several sockets of this machine have the client's addresses: connect without binding a socket to a device")

// findSocket finds the socket of this machine whose own address is local and whose peer's is remote;
// nil if there is none.
func findSocket(local, remote netip.AddrPort) (*socket, error) {
	sock, err := listKernel(local, remote)
	if errors.Is(err, errSameAddresses) {
		return nil, err
	}
	if err == nil && sock == nil {
		// An empty list is reliable if it contains our own end, which exists.
		own, err := listKernel(remote, local)
		if err == nil && own != nil {
			return nil, nil
		}
	}
	if err != nil || sock == nil {
		return searchTable(local, remote)
	}
	return sock, nil
}

// searchTable reads /proc/net/tcp and tcp6, for kernels without sock_diag.
func searchTable(local, remote netip.AddrPort) (*socket, error) {
	var found *socket
	var firstErr error
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		b, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			firstErr = cmp.Or(firstErr, err)
		}
		if found, err = searchLines(string(b), local, remote, found); err != nil {
			return nil, err
		}
	}
	if found != nil {
		return found, nil
	}
	return nil, firstErr
}

// searchLines looks for more sockets with these addresses than the one already found, which may be
// nil.
func searchLines(table string, local, remote netip.AddrPort, found *socket) (*socket, error) {
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) < 10 || f[3] == "0A" { // a listener
			continue
		}
		if parseHexAddr(f[1]) != local || parseHexAddr(f[2]) != remote {
			continue
		}
		uid, err1 := strconv.ParseUint(f[7], 10, 32)
		inode, err2 := strconv.ParseUint(f[9], 10, 32)
		if err1 != nil || err2 != nil {
			continue
		}
		var err error
		if found, err = onlyOne(found, &socket{inode: uint32(inode), uid: uint32(uid)}); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// onlyOne returns the socket, of two with the same addresses, that is a client: a closed one has no
// file. If both have one, it is an error. found may be nil.
func onlyOne(found, other *socket) (*socket, error) {
	switch {
	case found == nil || found.inode == 0:
		return other, nil
	case other.inode != 0 && other.inode != found.inode:
		return nil, errSameAddresses
	}
	return found, nil
}
