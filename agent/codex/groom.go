package codex

import "berth/agent"

// Groom: a newer version and another model are refused, for this time. The trust
// in a folder is given if the session says so; that in hooks of the user's own,
// and a sign-in, are somebody's to give.
func (Driver) Groom(d *agent.Dialog, p agent.Policy) (agent.Answer, bool) {
	switch d.Subtype {
	case agent.SubtypeUpdate, agent.SubtypeModelOffer:
		return agent.Answer{Kind: agent.Deny}, true
	case agent.SubtypeTrust:
		return agent.Answer{Kind: agent.Accept}, p.Trust
	}
	return agent.Answer{}, false
}
