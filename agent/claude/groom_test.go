package claude

import (
	"testing"

	"berth/agent"
)

// TestGroom: which startup prompts Berth answers under which policy. It refuses only what
// would write into the user's files.
func TestGroom(t *testing.T) {
	const key = "sk-ant-0123456789-abcdefghijklmnopqrst"
	own := agent.Policy{Vouched: vouched(map[string]string{apiKey: key})}
	theirs := agent.Policy{Vouched: vouched(map[string]string{apiKey: key + "x"})}
	all := agent.Policy{Trust: true, AcceptBypass: true}
	yes, no := agent.Accept, agent.Deny
	for _, c := range []struct {
		subtype string
		body    string
		policy  agent.Policy
		want    agent.AnswerKind // empty: a person answers
	}{
		{agent.SubtypeTheme, "", agent.Policy{}, yes},
		{agent.SubtypeSecurityNotes, "", agent.Policy{}, yes},
		{agent.SubtypeLoginSuccess, "", agent.Policy{}, yes},
		{agent.SubtypeTerminalSetup, "", agent.Policy{}, no},
		{agent.SubtypeTerminalDone, "", agent.Policy{}, yes},
		{agent.SubtypeTrust, "", agent.Policy{}, ""},
		{agent.SubtypeTrust, "", agent.Policy{AcceptBypass: true}, ""},
		{agent.SubtypeTrust, "", agent.Policy{Trust: true}, yes},
		{agent.SubtypeBypass, "", agent.Policy{Trust: true}, ""},
		{agent.SubtypeBypass, "", agent.Policy{AcceptBypass: true}, yes},
		{agent.SubtypeAPIKey, "ANTHROPIC_API_KEY: sk-ant-..." + tail(key), all, ""},
		{agent.SubtypeAPIKey, "ANTHROPIC_API_KEY: sk-ant-..." + tail(key), theirs, ""},
		{agent.SubtypeAPIKey, "ANTHROPIC_API_KEY: sk-ant-..." + tail(key), own, yes},
		{agent.SubtypeAPIKey, "Do you want to use this API key?", own, ""},
		{agent.SubtypeLoginMethod, "", all, ""},
		{agent.SubtypeOAuthLogin, "", all, ""},
		{agent.SubtypeSettingsError, "", all, ""},
		{"", "", all, ""}, // a permission, a plan, a question
	} {
		a, ok := Driver{}.Groom(&agent.Dialog{Type: agent.PromptSetup, Subtype: c.subtype, Body: c.body}, c.policy)
		if ok != (c.want != "") || ok && (a.Kind != c.want || a.Text != "") {
			t.Errorf("%s, %+v: %v %v, want %q", c.subtype, c.policy, a, ok, c.want)
		}
	}
}
