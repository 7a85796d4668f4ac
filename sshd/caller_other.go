//go:build !linux

package sshd

import (
	"fmt"
	"net"
	"net/netip"
)

// callerOverTCP admits clients on other machines. A client on this machine could be a session's, and
// the system doesn't say which process has a connection open.
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
	return nil, 0, fmt.Errorf("%s is an address of this machine, and its system doesn't say which process connects: use the berth command there, which connects by the local socket", c.Addr())
}

// routedHere knows only the addresses of interfaces.
func routedHere(netip.Addr) (bool, error) { return false, nil }
