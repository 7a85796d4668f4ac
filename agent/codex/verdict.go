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

// refused is the message to the model for a denial by hook. The turn continues after it; only a
// denial at the dialog ends the turn.
const refused = "The user does not want this to be done. Stop here, do not try another way, and wait for the user to say how to go on."

// decision is the answer of a PermissionRequest hook.
type decision struct {
	Behavior string `json:"behavior"`
	Message  string `json:"message,omitempty"`
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
		return verdict(decision{Behavior: "allow"}, agent.OutcomeAccepted)
	case a.Kind == agent.Deny && a.Text == "":
		return verdict(decision{Behavior: "deny", Message: refused}, agent.OutcomeDenied)
	case a.Kind == agent.Deny:
		return verdict(decision{Behavior: "deny", Message: a.Text}, agent.OutcomeDenied)
	case a.Kind == agent.ChooseOption && strings.HasPrefix(agent.Value(p.Tool), serverTools) && !hasRoom([]byte(p.FullInput)):
		return agent.Verdict{}, cannot("its dialog doesn't show all of the tool's input: use accept or deny, or attach")
	case a.Kind == agent.ChooseOption:
		return agent.Verdict{}, agent.ErrOnlyByKeys
	}
	return agent.Verdict{}, fmt.Errorf("%w: a permission takes accept, deny [TEXT] or option N", agent.ErrAnswer)
}

func verdict(d decision, outcome string) (agent.Verdict, error) {
	stdout, err := hooks.Encode(map[string]any{
		"hookSpecificOutput": map[string]any{"hookEventName": "PermissionRequest", "decision": d},
	})
	if err != nil {
		return agent.Verdict{}, fmt.Errorf("encode the answer: %w", err)
	}
	return agent.Verdict{Stdout: stdout, Outcome: outcome}, nil
}
