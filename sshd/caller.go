package sshd

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"

	"berth/keys"
)

// caller is the origin of a connection over TCP: a process inside a session, or anything else. It
// is looked up once, when the client has proven a key, because that reads the open files of this
// machine's processes.
type caller struct {
	holder *HolderProcess // of the session; nil for none
	pid    int
	err    error // the client is on this machine and its process can't be identified
}

func (s *Server) callerOf(w *wire) *caller {
	holder, pid, err := callerOverTCP(w.RemoteAddr(), w.LocalAddr(), s.holders())
	if err == nil && !w.connected() {
		err = errors.New("it has gone, and another client may have its address by now")
	}
	return &caller{holder, pid, err}
}

// identity returns id, or an agent's identity if the client is a process of this machine that
// descends from a holder: a key that an agent can read must not make it a person.
func (c *caller) identity(id keys.Identity) (keys.Identity, error) {
	if c.err != nil {
		return keys.Identity{}, fmt.Errorf("can't accept the client as a person: %w", c.err)
	}
	if c.holder == nil {
		return id, nil
	}
	agent := c.holder.agent(c.pid)
	agent.Source, agent.Fingerprint, agent.Line, agent.Expires = id.Source, id.Fingerprint, id.Line, id.Expires
	return agent, nil
}

// agent is a process that descends from the holder.
func (h *HolderProcess) agent(pid int) keys.Identity {
	id := keys.Agent(h.Session, h.Name, pid)
	id.Verbs = h.Verbs
	return id
}

var errNoTCP = errors.New("it isn't a TCP connection")

// ownAddress says whether packets from an address come from this machine.
func ownAddress(a netip.Addr) (bool, error) {
	if a.IsLoopback() {
		return true, nil
	}
	list, err := net.InterfaceAddrs()
	if err != nil {
		return false, fmt.Errorf("list the addresses of this machine: %w", err)
	}
	if slices.ContainsFunc(list, func(own net.Addr) bool {
		n, ok := own.(*net.IPNet)
		return ok && n.IP.Equal(a.AsSlice())
	}) {
		return true, nil
	}
	return routedHere(a)
}

func addrPort(a net.Addr) (netip.AddrPort, bool) {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}, false
	}
	ap := t.AddrPort()
	return netip.AddrPortFrom(ap.Addr().Unmap().WithZone(""), ap.Port()), true
}
