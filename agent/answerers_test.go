package agent_test

import (
	"errors"
	"testing"
	"time"

	"berth/agent"
)

// TestAnswerers: the prompt's type chooses the answerer, and its first key waits until the dialog was shown long enough.
func TestAnswerers(t *testing.T) {
	as := agent.Answerers{ShownFor: time.Second, Plan: func(*agent.Request, agent.Answer, *agent.Dialog) (agent.KeyAnswer, error) {
		return agent.KeyAnswer{Steps: []agent.Step{{Key: "1"}, {Key: "Enter"}}}, nil
	}}
	whole := &agent.Dialog{}
	k, err := as.Keys(&agent.Request{Type: agent.PromptPlan}, agent.Answer{}, whole)
	if err != nil || len(k.Steps) != 2 || k.Steps[0].ShownFor != time.Second || k.Steps[1].ShownFor != 0 {
		t.Errorf("%+v %v", k, err)
	}
	for _, c := range []struct {
		of   agent.PromptType
		d    *agent.Dialog
		want error
	}{
		{agent.PromptPlan, nil, agent.ErrNotReady}, {agent.PromptPlan, &agent.Dialog{Partial: true}, agent.ErrNotReady},
		{agent.PromptForm, whole, agent.ErrCannot},
	} {
		if _, err := as.Keys(&agent.Request{Type: c.of}, agent.Answer{}, c.d); !errors.Is(err, c.want) {
			t.Errorf("%s %+v: %v", c.of, c.d, err)
		}
	}
}
