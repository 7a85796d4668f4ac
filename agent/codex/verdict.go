package codex

import (
	"fmt"
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

// Verdict is the answer for a waiting PermissionRequest hook. It can allow this call once, or deny
// it with a reason. While the hook waits, no dialog offers more options.
func (Driver) Verdict(p *agent.Request, a agent.Answer, _ []byte) (agent.Verdict, error) {
	if p.Type != agent.PromptPermission || p.Subtype != nil {
		return agent.Verdict{}, agent.ErrOnlyByKeys
	}
	switch {
	case a.Kind == agent.Accept:
		return verdict("allow", "", agent.OutcomeAccepted)
	case a.Kind == agent.Deny:
		return verdict("deny", a.Text, agent.OutcomeDenied)
	case a.Kind == agent.ChooseOption && strings.HasPrefix(agent.Value(p.Tool), serverTools) && !hasRoom([]byte(p.FullInput)):
		return agent.Verdict{}, cannot("its dialog doesn't show all of the tool's input: use accept or deny, or attach")
	case a.Kind == agent.ChooseOption:
		return agent.Verdict{}, agent.ErrOnlyByKeys
	}
	return agent.Verdict{}, fmt.Errorf("%w: a permission takes accept, deny [TEXT] or option N", agent.ErrAnswer)
}

func verdict(behavior, message, outcome string) (agent.Verdict, error) {
	stdout, err := hooks.Decide(behavior, message)
	if err != nil {
		return agent.Verdict{}, fmt.Errorf("encode the answer: %w", err)
	}
	return agent.Verdict{Stdout: stdout, Outcome: outcome}, nil
}
