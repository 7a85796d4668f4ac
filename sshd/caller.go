package sshd

import (
	"fmt"

	"berth/keys"
)

// agentOverTCP gives id, or an agent's identity in its place when the client
// is a process of this machine that descends from a holder: a key that an
// agent can read must not make it a person. It is an error where the client
// is on this machine and its process cannot be told.
func (s *Server) agentOverTCP(c *connection, id keys.Identity) (keys.Identity, error) {
	holder, pid, err := callerOverTCP(c.wire.RemoteAddr(), c.wire.LocalAddr(), s.holders())
	if err != nil {
		return keys.Identity{}, fmt.Errorf("cannot take the client for a person: %w", err)
	}
	if holder == nil {
		return id, nil
	}
	agent := holder.agent(pid)
	agent.Source, agent.Fingerprint, agent.Line, agent.Expires = id.Source, id.Fingerprint, id.Line, id.Expires
	return agent, nil
}

// agent is a process that descends from the holder.
func (h *HolderProcess) agent(pid int) keys.Identity {
	id := keys.Agent(h.Session, h.Name, pid)
	id.Verbs = h.Verbs
	return id
}
