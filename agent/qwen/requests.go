package qwen

import (
	"encoding/json"
	"strings"

	"berth/agent"
	"berth/agent/drawn"
	"berth/agent/forks"
)

// Names of the tools that Berth treats specially.
const (
	toolShell = forks.ToolShell
	toolWrite = forks.ToolWrite
	toolEdit  = "edit"
	toolAsk   = "ask_user_question"
	toolPlan  = "exit_plan_mode"
)

// planning are the options of a plan's dialog, until they are read from the screen.
var planning = []string{"Yes, restore previous mode (default)", "Yes, and auto-accept edits", optionManual, optionKeep}

// tooling has the tools with a command or a file. Qwen Code compares a file without its blanks once another line differs, and draws
// 80 characters of its path.
var tooling = forks.Files(toolEdit, "replace_all").LeavingOut(80, true).Escaping().DrawingSed()

// titles are those of permissions with measured dialogs.
var titles = map[string]string{toolShell: "Shell", toolWrite: askEdit, toolEdit: askEdit}

// request makes the prompt of a tool's permission.
func request(tool string, input json.RawMessage, agentType string) *agent.Request {
	r := forks.Permission(tool, agentType, input)
	r.Title = agent.Pointer(titles[tool])
	switch in, err := agent.ReadInput(input); {
	case err == nil && tool == toolAsk:
		forks.ReadQuestions(r, input, false)
	case err == nil && tool == toolPlan:
		r.Type, r.Title, r.Options = agent.PromptPlan, agent.Pointer(askPlan), planning
		r.Text, _ = in.Text("plan") // else the dialog shows it
	default:
		tooling.SetInput(r, tool, input)
	}
	return r.Clone()
}

// Waiting makes the prompt for a title that shows a dialog, from the pending tool call, if there is one.
func (Driver) Waiting(f *agent.Fact) *agent.Request { return request(f.Tool, f.Input, f.AgentType) }

// Undrawn are the fields of a tool's input that no dialog draws. The dialog of a server's tool, or of one that
// was not measured, may draw none of them.
func (Driver) Undrawn(tool string, input json.RawMessage, dir string) string {
	if in, err := agent.ReadInput(input); tool != toolShell && !tooling.Changes(tool) && tool != toolAsk && tool != toolPlan && err == nil && len(in) > 0 {
		return tooling.UndrawnOfOther(tool, in, input)
	}
	return tooling.Undrawn(tool, input, dir)
}

// FromDialog makes the prompt of a dialog that no other source reported.
func (d Driver) FromDialog(dialog *agent.Dialog) *agent.Request {
	r := forks.Drawn(dialog)
	if r.Type == agent.PromptPermission {
		// The dialog of a server's tool draws its name, and not its input. Its question is cut off without room.
		if r.SetInput(dialog.Body); dialog.Agent != "" || dialog.Tool == "" && dialog.Title != askMore {
			r.SetInPart()
		}
		r.Text, r.Agent = agent.Pointer(forks.Joined(dialog.Asked, headOf(dialog))), agent.Pointer(dialog.Agent)
	}
	d.Fill(r, dialog)
	return r
}

// headOf are the rows of the dialog's tool, if they have what the dialog's text lacks. Of a command that is its folder, and that it
// runs in the background, and not its description.
func headOf(d *agent.Dialog) string {
	head, _, _ := strings.Cut(strings.Join(d.Lines, "\n"), "\n\n")
	head, ok := strings.CutPrefix(head, "? ")
	if d.Tool == toolShell && d.Question != askEdit && !d.Cut {
		more, begins := strings.CutPrefix(drawn.Squeeze(strings.Replace(head, "←", "", 1)), drawn.Squeeze("Shell "+d.Body))
		ok = ok && len(d.Rows) == 1 && !(begins && (more == "" || more[0] == '('))
	}
	if !ok {
		return ""
	}
	return strings.TrimSpace(strings.TrimSuffix(head, "←"))
}

// Fill adds what only the dialog shows: its options, and of several questions the number of the shown
// one.
func (Driver) Fill(r *agent.Request, d *agent.Dialog) {
	r.ShownBy(d)
	switch r.Type {
	case agent.PromptQuestion:
		forks.FillQuestion(r, d, func() int { return d.Current }, d.Body, d.Options[:max(len(d.Options)-1, 0)]) // the last one takes words
	case agent.PromptPlan:
		if r.Text == nil {
			r.Text = agent.Pointer(d.Body)
		}
	}
}
