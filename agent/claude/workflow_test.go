package claude_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/agent"
)

// ofWorkflow is a command's dialog as 2.1.330 draws it for the agent of a workflow, whose head takes these rows.
func ofWorkflow(cols int, command string, head ...string) *agent.Reading {
	rows := append([]string{strings.Repeat("─", cols)}, head...)
	return draw(cols, 40, strings.Join(append(rows, " Lists", strings.Repeat("╌", cols), " "+command, strings.Repeat("╌", cols),
		" Do you want to proceed?", " ❯ 1. Yes", "   2. No", "", " Esc to cancel · Tab to amend"), "\n"))
}

// TestWorkflowsAgent: the head of such a dialog names the workflow. The prompt is the agent's, also where the head has no room in one row,
// and the hook that waits takes the answer.
func TestWorkflowsAgent(t *testing.T) {
	for _, head := range [][]string{
		{` Bash command · from the "y" workflow`}, {` Bash command · from the "my agent" workflow`},
		{` Bash      · from the "my agent flow"`, ` command   workflow`}, {` Bash      · from the "my agent`, ` command   flow" workflow`},
		{` Bash command · from the helper agent`}, {` Bash      · from the helper`, ` command   agent`},
	} {
		name, kinds := "workflow-subagent", []string{"workflow-subagent", "general-purpose"} // a workflow may choose the type
		if strings.Contains(head[0], "helper") {
			name, kinds = "helper", []string{"helper"}
		}
		s, r := newForgery(t), ofWorkflow(50, "touch a.txt", head...)
		s.show(r)
		p := s.f.Status().Request
		if p == nil || text(p.Agent) != name || text(p.Input) != "touch a.txt" || text(p.Tool) != "Bash" || text(p.Title) != "Bash command" || !s.keyed(p.ID, r.Dialog) {
			t.Errorf("%q: it asks %+v", head, p)
		}
		for _, kind := range kinds {
			s := newForgery(t)
			s.hook(fmt.Sprintf(`{"session_id":"s","hook_event_name":"PermissionRequest","prompt_id":"t","agent_id":"a","agent_type":%q,"tool_name":"Bash","tool_input":{"command":"touch a.txt","description":"Lists"}}`, kind), "7")
			s.show(r)
			s.pass(time.Second)
			if p := s.f.Status().Request; len(s.f.Status().Requests) != 1 || p.Channel != agent.ChannelHook || !p.OnScreen || text(p.Input) != "touch a.txt" {
				t.Errorf("%q, reported by a hook of %s: it asks %+v", head, kind, p)
			}
		}
	}
}

// TestHeadOfAnUnknownForm: a head that names another asker takes no other rows: the prompt has what the tool would do.
func TestHeadOfAnUnknownForm(t *testing.T) {
	s, r := newForgery(t), ofWorkflow(50, "touch a.txt", ` Bash command · from the y team`)
	s.show(r)
	if p := s.f.Status().Request; p == nil || text(p.Input) != "touch a.txt" || text(p.Title) != "Bash command · from the y team" {
		t.Errorf("it asks %+v", p)
	}
}

// TestWorkflowAfterTheTurn: a workflow runs in the background. What its subagent asks after the turn's end is asked on when Berth releases
// the hook for an attached person, as that of a subagent in the background is, and keys answer its dialog.
func TestWorkflowAfterTheTurn(t *testing.T) {
	const asks = `{"session_id":"s","hook_event_name":"PermissionRequest","prompt_id":"t","agent_id":"a","agent_type":"workflow-subagent","tool_name":"Bash","tool_input":{"command":"touch a.txt","description":"Lists"}}`
	for kind, keyed := range map[string]bool{"workflow": true, "shell": false} {
		s, r := newForgery(t), ofWorkflow(80, "touch a.txt", ` Bash command · from the "y" workflow`)
		s.hook(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt_id":"t","prompt":"x"}`, "")
		s.hook(`{"session_id":"s","hook_event_name":"Stop","prompt_id":"t","background_tasks":[{"id":"w1","type":"`+kind+`","status":"running"}]}`, "")
		s.hook(asks, "7")
		s.f.Apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: "hook:gone", Hook: "7", Evidence: agent.HookReleased, Time: s.step()})
		s.show(r)
		s.pass(2 * time.Second)
		s.show(r)
		if p := s.f.Status().Request; p == nil || s.keyed(p.ID, r.Dialog) != keyed || text(p.Input) != "touch a.txt" {
			t.Errorf("%s: it asks %+v", kind, p)
		}
	}
}

// asksForWorkflow is the dialog that 2.1.330 draws before a workflow. The question is its title.
func asksForWorkflow(cols int) *agent.Reading {
	return draw(cols, 40, strings.Join([]string{strings.Repeat("─", cols), " Run a dynamic workflow?", "", " harmless", "",
		" This dynamic workflow will spin up multiple subagents across the following phases:", ` 1. a`, ` · "look around"`, "",
		" Dynamic workflows can use a lot of tokens quickly by running many subagents in parallel.", "",
		" ❯ 1. Yes, run it", "   2. View raw script", "   3. No", "", " Esc to cancel · Tab to amend"}, "\n"))
}

// TestWorkflowsDialog: the dialog before a workflow is that of the prompt which its hook reported. It draws no script.
// Without hooks the prompt says so, and has the script only from the log.
func TestWorkflowsDialog(t *testing.T) {
	const script = `{"script":"const r = await agent('look around')"}`
	for _, cols := range []int{100, 60} {
		s, r := newForgery(t), asksForWorkflow(cols)
		s.asks("Workflow", script, "7")
		s.show(r)
		s.pass(time.Second)
		if p := s.f.Status().Request; len(s.f.Status().Requests) != 1 || p.Channel != agent.ChannelHook || !p.OnScreen || text(p.Tool) != "Workflow" || text(p.Input) != script {
			t.Errorf("%d columns, reported by a hook: it asks %+v", cols, p)
		}
		s = newForgery(t)
		s.show(r)
		p := s.f.Status().Request
		if p == nil || p.Type != agent.PromptPermission || text(p.Tool) != "Workflow" || !strings.Contains(text(p.Text), "doesn't show the workflow's script") || !strings.Contains(text(p.Text), "look around") {
			t.Errorf("%d columns, seen only: it asks %+v", cols, p)
		}
	}
}
