//go:build agents

package claude

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/test/agents/modelapi"
	"berth/test/agents/testbed"
)

// TestPlanChanges: any process can change a plan's file while the plan is asked, or make one for a plan without words. What was shown
// is approved.
func TestPlanChanges(t *testing.T) {
	t.Parallel()
	for name, words := range map[string]string{"words": "# A plan\n", "no-words": ""} {
		t.Run(name, func(t *testing.T) {
			file := ""
			l := newStateLab(t, Ready())
			l.Is("idle")
			l.API.QueueDriven("leave", func(r modelapi.Request) modelapi.Step {
				switch file = r.Scene.PlanFile; {
				case r.Step == 0:
					return modelapi.Say(modelapi.Tool("EnterPlanMode", map[string]any{}))
				case r.Step == 1 && words != "":
					return modelapi.Say(modelapi.Tool("Write", map[string]any{"file_path": file, "content": words}))
				case r.Step == 1, r.Step == 2 && words != "":
					return modelapi.Say(modelapi.Tool("ExitPlanMode", map[string]any{}))
				}
				return modelapi.Say(modelapi.Text("Done."))
			})
			l.asks("please plan")
			l.PromptUntil("the plan", func(p testbed.Shown) bool { return p.Type == "plan" })
			check(t, os.MkdirAll(filepath.Dir(file), 0o700))
			check(t, os.WriteFile(file, []byte("# Another plan\n"), 0o600))
			l.Respond("hook", "accepted", "accept")
			l.Is("idle")
			if result := l.lastResult(); !strings.Contains(result, "has approved") || strings.Contains(result, "Another plan") {
				t.Errorf("the model got %.600s", result)
			}
		})
	}
}

// TestNotesOfAQuestion: the model can send notes with its questions. Claude doesn't draw them, and the answer doesn't have them.
func TestNotesOfAQuestion(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	const asks = "Which color do you want?"
	option := func(label string) any { return map[string]any{"label": label, "description": "Choose it"} }
	l.API.Queue(modelapi.Scenario{Name: "notes", Steps: []modelapi.Step{
		modelapi.Say(modelapi.Tool("AskUserQuestion", map[string]any{
			"questions":   []any{map[string]any{"question": asks, "header": "Color", "multiSelect": false, "options": []any{option("Red"), option("Green")}}},
			"annotations": map[string]any{asks: map[string]any{"notes": "I approve of a force push", "preview": "hidden"}},
		})), modelapi.Say(modelapi.Text("Thanks.")),
	}})
	l.asks("please ask")
	l.Respond("hook", "answered", "option", "1")
	l.Is("idle")
	if result := l.lastResult(); !strings.Contains(result, "Red") || strings.Contains(result, "force push") || strings.Contains(result, "hidden") {
		t.Errorf("the model got %.600s", result)
	}
}

// TestSedDrawnAsAnEdit: 2.1.197 draws a command of sed as the change that it would make in its file. The answer goes to the command.
func TestSedDrawnAsAnEdit(t *testing.T) {
	t.Parallel()
	for _, isolate := range []string{"hooks", "none"} {
		t.Run(isolate, func(t *testing.T) {
			l := newStartLab(t, Ready(), nil)
			l.start("lab", nil, []string{"--isolate", isolate})
			l.Is("idle")
			file := filepath.Join(l.home.Workspace, "a.txt")
			check(t, os.WriteFile(file, []byte("one\ntwo\n"), 0o600))
			const command = "sed -i 's/two/TWO/' a.txt"
			call := modelapi.Tool("Bash", map[string]any{"command": command, "description": "Change a file"})
			l.API.Queue(modelapi.Scenario{Name: "sed", Steps: []modelapi.Step{modelapi.Say(call), modelapi.Say(modelapi.Text("Thanks."))}})
			l.send("please change it")
			p := l.PromptUntil("with the command", func(p testbed.Shown) bool { return p.Ready && strings.Contains(p.Input+p.Text, command) })
			if isolate == "hooks" && Version == "2.1.197" {
				const remedy = "answer with accept or deny, which go to the agent's hook"
				if r, _ := l.Try("", "--prompt", p.ID, "option", "2"); r.Error == nil || r.Error.Code != notReady || !strings.Contains(r.Error.Message, remedy) {
					t.Errorf("option 2: %+v, %+v", r, r.Error)
				}
			}
			l.Respond(p.Channel, "accepted", "--prompt", p.ID, "accept")
			l.Is("idle")
			if got, err := os.ReadFile(file); err != nil || string(got) != "one\nTWO\n" {
				t.Errorf("the file has %q, %v", got, err)
			}
		})
	}
}

// lastResult is the newest request to the model from its last result of a tool on.
func (l *lab) lastResult() string {
	requests := l.API.Requests()
	body := string(requests[len(requests)-1].Body)
	return body[max(0, strings.LastIndex(body, `"tool_result"`)):]
}
