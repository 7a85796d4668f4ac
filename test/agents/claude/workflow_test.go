//go:build agents

package claude

import (
	"strings"
	"testing"

	"berth/test/agents/modelapi"
	"berth/test/agents/testbed"
)

// TestWorkflow: a workflow asks by one prompt, which has its script where a hook or the log does. What its subagent asks is a prompt of
// its own.
func TestWorkflow(t *testing.T) {
	since(t, 330)
	for isolate, channel := range map[string]string{"hooks": "hook", "none": "keys"} {
		t.Run(isolate, func(t *testing.T) {
			l := newStartLab(t, Ready(), nil)
			l.start("lab", nil, []string{"--isolate", isolate}, manual(nil)...)
			l.Is("idle")
			const script = "export const meta = {name:'flow', description:'Looks around', phases:[{title:'a'}]}\nreturn await agent('MOCK: bash touch made.txt')\n"
			workflow := modelapi.Tool("Workflow", map[string]any{"script": script})
			l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{modelapi.Say(workflow), modelapi.Say(modelapi.Text("flow runs"))}})
			l.send("please look around")
			asks := l.PromptUntil("the workflow's", func(p testbed.Shown) bool {
				return p.OnScreen && len(p.Options) > 1 && strings.Contains(p.Input+p.Text, "await agent(")
			})
			if s := l.Said(); len(s.Prompts) != 1 || asks.Type != "permission" || asks.Tool != "Workflow" {
				t.Errorf("the prompts are %+v", s.Prompts)
			}
			l.Respond(channel, "accepted", "--prompt", asks.ID, "accept")
			sub := l.PromptUntil("the subagent's", func(p testbed.Shown) bool { return p.Tool == "Bash" })
			if sub.Input != "touch made.txt" || sub.Agent != "workflow-subagent" {
				t.Errorf("the subagent asks %+v", sub)
			}
			l.Respond(channel, "accepted", "--prompt", sub.ID, "accept")
			l.Poll(func() bool { return l.Made("made.txt") }, func() string { return "the command isn't run" })
		})
	}
}
