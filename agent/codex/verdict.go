package codex

import (
	"fmt"

	"berth/agent"
	"berth/agent/hooks"
)

// HidesDialog: while a PermissionRequest hook runs, Codex draws no dialog for it.
func (Driver) HidesDialog(p *agent.Request) bool {
	return p.Type == agent.PromptPermission && p.Subtype == nil
}

// refused is what the model is told of a plain No by hook, after which it goes
// on: only a No at the dialog ends the turn.
const refused = "The user does not want this to be done. Stop here, do not try another way, and wait for the user to say how to go on."

// decision is what a PermissionRequest hook says.
type decision struct {
	Behavior string `json:"behavior"`
	Message  string `json:"message,omitempty"`
}

// Verdict is the answer for a waiting PermissionRequest hook. It can allow this
// once, or refuse with a reason; while it waits there is no dialog with more
// options.
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
