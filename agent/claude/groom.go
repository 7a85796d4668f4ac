package claude

import (
	"berth/agent"
	"berth/agent/pattern"
)

// Groom: what is a matter of looks or only to be read is answered; what gives a
// right only if the session says so. The terminal is not set up: that writes
// into the user's files.
func (Driver) Groom(d *agent.Dialog, p agent.Policy) (agent.Answer, bool) {
	yes := agent.Answer{Kind: agent.Accept}
	switch d.Subtype {
	case agent.SubtypeTheme, agent.SubtypeSecurityNotes, agent.SubtypeLoginSuccess:
		return yes, true
	case agent.SubtypeTerminalSetup:
		return agent.Answer{Kind: agent.Deny}, true
	case agent.SubtypeTrust:
		return yes, p.Trust
	case agent.SubtypeBypass:
		return yes, p.AcceptBypass
	case agent.SubtypeAPIKey:
		return yes, isVouched(d, p.Vouched[agent.SubtypeAPIKey])
	}
	return agent.Answer{}, false
}

// shownKey is what the dialog shows of the key that it found.
var shownKey = pattern.New(`ANTHROPIC_API_KEY: (?:sk-ant-)?\.\.\.(\S+)`)

// isVouched says whether the key that the dialog shows is the one that the
// session's own environment gives: settings may have put another in its place.
func isVouched(d *agent.Dialog, own string) bool {
	m := shownKey.FindStringSubmatch(d.Body)
	return own != "" && m != nil && digest(m[1]) == own
}
