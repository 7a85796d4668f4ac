//go:build !linux

package sshd

import (
	"fmt"
	"net"
	"net/netip"
)

// callerOverTCP lets in clients on other machines. One on this machine could be a
// session's, and the system does not say which process has a connection open.
func callerOverTCP(client, _ net.Addr, holders []HolderProcess) (*HolderProcess, int, error) {
	if len(holders) == 0 {
		return nil, 0, nil
	}
	c, ok := addrPort(client)
	if !ok {
		return nil, 0, errNoTCP
	}
	here, err := ownAddress(c.Addr())
	if err != nil || !here {
		return nil, 0, err
	}
	return nil, 0, fmt.Errorf("%s is an address of this machine, whose system does not say what process connects: use berth on it, which goes by the local socket", c.Addr())
}

// routedHere knows the addresses of interfaces alone.
func routedHere(netip.Addr) (bool, error) { return false, nil }
