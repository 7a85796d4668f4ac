package codex

import (
	"strings"

	"berth/agent"
	"berth/agent/hooks"
)

// HidesDialog: while a PermissionRequest hook runs, Codex draws no dialog for it.
func (Driver) HidesDialog(p *agent.Request) bool {
	return p.Type == agent.PromptPermission && p.Subtype == nil
}

// serverTools is the start of the names that hooks have for the tools of MCP servers.
const serverTools = "mcp__"

// Verdict is the answer for a waiting PermissionRequest hook. Of a server's tool its dialog may not show all.
func (d Driver) Verdict(p *agent.Request, a agent.Answer, _ []byte) (agent.Verdict, error) {
	switch {
	case !d.HidesDialog(p):
		return agent.Verdict{}, agent.ErrOnlyByKeys
	case a.Kind == agent.ChooseOption && strings.HasPrefix(agent.Value(p.Tool), serverTools) && !hasRoom([]byte(p.FullInput)):
		return agent.Verdict{}, cannot("its dialog doesn't show all of the tool's input: use accept or deny, or attach")
	}
	return hooks.Permit(a)
}
