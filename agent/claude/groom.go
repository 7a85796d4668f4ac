package claude

import (
	"berth/agent"
	"berth/agent/pattern"
)

// Groom answers prompts about looks, and prompts that only inform. It gives a right only if the
// session says so. It doesn't let Claude set up the terminal, because that writes into the user's
// files.
func (Driver) Groom(d *agent.Dialog, p agent.Policy) (agent.Answer, bool) {
	yes := agent.Answer{Kind: agent.Accept}
	switch d.Subtype {
	case agent.SubtypeTheme, agent.SubtypeSecurityNotes, agent.SubtypeLoginSuccess, agent.SubtypeTerminalDone:
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

// shownKey matches the part of the key that the dialog shows.
var shownKey = pattern.New(`ANTHROPIC_API_KEY: (?:sk-ant-)?\.\.\.(\S+)`)

// isVouched reports whether the key in the dialog is the one from the session's own environment.
// Settings may have replaced it.
func isVouched(d *agent.Dialog, own string) bool {
	m := shownKey.FindStringSubmatch(d.Body)
	return own != "" && m != nil && digest(m[1]) == own
}
