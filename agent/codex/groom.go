package codex

import "berth/agent"

// Groom denies an update and another model, for this time. It trusts the folder if the session says
// so. Only a person may trust the user's own hooks, or sign in.
func (Driver) Groom(d *agent.Dialog, p agent.Policy) (agent.Answer, bool) {
	switch d.Subtype {
	case agent.SubtypeUpdate, agent.SubtypeModelOffer:
		return agent.Answer{Kind: agent.Deny}, true
	case agent.SubtypeTrust:
		return agent.Answer{Kind: agent.Accept}, p.Trust
	}
	return agent.Answer{}, false
}
