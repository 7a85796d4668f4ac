package qwen

import (
	"encoding/json"
	"strings"

	"berth/agent"
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

// request makes the prompt of a tool's permission. The options of a permission depend on the call, so
// it has none until the dialog shows them.
func request(tool string, input json.RawMessage, agentType string) *agent.Request {
	r := &agent.Request{
		Type: agent.PromptPermission, Tool: agent.Pointer(tool), Agent: agent.Pointer(agentType), Options: []string{},
		OptionsFallback: true, Modal: true, Channel: agent.ChannelKeys, Raw: input,
	}
	in, err := agent.ReadInput(input)
	switch {
	case err != nil && len(input) > 0:
		r.Text = agent.Pointer(agent.Unreadable)
	case tool == toolAsk:
		r.Type = agent.PromptQuestion
		asks(r, input)
		return r.Clone()
	case tool == toolPlan:
		r.Type, r.Title, r.Options = agent.PromptPlan, agent.Pointer(askPlan), planning
		if plan, err := in.Text("plan"); err == nil {
			r.Text = plan
		}
		return r.Clone()
	case tool == toolShell:
		r.Title = agent.Pointer("Shell")
		if command, err := in.Text("command"); err == nil && agent.Value(command) != "" {
			r.SetInput(*command)
			return r.Clone()
		}
	case tool == toolWrite, tool == toolEdit:
		r.Title = agent.Pointer(askEdit)
		if file, err := in.Text("file_path"); err == nil && agent.Value(file) != "" {
			r.SetInput(*file)
			r.FullInput = agent.Compact(input)
			r.InputBytes, r.InputTruncated = len(r.FullInput), true
			return r.Clone()
		}
	}
	if whole := agent.Compact(input); whole != "" {
		r.SetInput(whole)
	}
	return r.Clone()
}

func asks(r *agent.Request, input json.RawMessage) {
	var in struct {
		Questions []struct {
			Question, Header string
			MultiSelect      bool
			Options          []struct{ Label, Description string }
		}
	}
	if agent.ReadExactly(input, &in, "questions", "question", "header", "multiSelect", "options", "label", "description") != nil {
		return // the dialog shows what can't be read here
	}
	for _, q := range in.Questions {
		one := agent.Question{Header: q.Header, Text: q.Question, MultiSelect: q.MultiSelect}
		for _, o := range q.Options {
			one.Options, one.Descriptions = append(one.Options, o.Label), append(one.Descriptions, o.Description)
		}
		r.Questions = append(r.Questions, one)
	}
	if len(r.Questions) > 0 {
		q := r.Questions[0]
		r.Title, r.Text, r.Options = agent.Pointer(q.Header), agent.Pointer(q.Text), q.Options
	}
}

// Waiting makes the prompt for a title that shows a dialog, from the pending tool call, if there is one.
func (Driver) Waiting(f *agent.Fact) *agent.Request { return request(f.Tool, f.Input, f.AgentType) }

// Undrawn are the fields of a tool's input that no dialog draws. The dialog of a server's tool, or of one that
// was not measured, may draw none of them.
func (Driver) Undrawn(tool string, input json.RawMessage, _ string) string {
	in, err := agent.ReadInput(input)
	switch {
	case err != nil: // an unreadable input is shown as such
	case tool == toolShell:
		return forks.UndrawnOfCommand(in)
	case tool == toolWrite, tool == toolEdit:
		return forks.UndrawnOfEdit(in)
	case tool != toolAsk && tool != toolPlan && len(in) > 0:
		return agent.Compact(input)
	}
	return ""
}

// FromDialog makes the prompt of a dialog that no other source reported.
func (d Driver) FromDialog(dialog *agent.Dialog) *agent.Request {
	r := &agent.Request{
		Type: dialog.Type, Subtype: agent.Pointer(dialog.Subtype), Tool: agent.Pointer(dialog.Tool),
		Title: agent.Pointer(dialog.Title), Modal: true, Channel: agent.ChannelKeys, Alike: dialog.Alike,
	}
	if r.Type == agent.PromptPermission {
		if dialog.Body != "" || ofServer.MatchString(dialog.Title) {
			r.SetInput(dialog.Body)
		}
		if ofServer.MatchString(dialog.Title) { // it draws the tool's name, and not its input
			r.SetInPart()
		}
		r.Text = agent.Pointer(dialog.Asked)
		if dialog.Tool != toolShell || dialog.Cut { // the row of the tool has what the text lacks
			r.Text = agent.Pointer(strings.TrimSpace(dialog.Asked + "\n" + headOf(dialog)))
		}
	}
	d.Fill(r, dialog)
	return r
}

// headOf is the row of the dialog's tool.
func headOf(d *agent.Dialog) string {
	if len(d.Lines) == 0 || !strings.HasPrefix(d.Lines[0], "? ") {
		return ""
	}
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(d.Lines[0], "? "), "←"))
}

// Fill adds what only the dialog shows: its options, and of several questions the number of the shown
// one.
func (Driver) Fill(r *agent.Request, d *agent.Dialog) {
	r.ShownBy(d)
	switch r.Type {
	case agent.PromptQuestion:
		fillQuestion(r, d)
	case agent.PromptPlan:
		if r.Text == nil {
			r.Text = agent.Pointer(d.Body)
		}
	case agent.PromptSetup, agent.PromptNotice:
		r.Text = agent.Pointer(d.Body)
	}
}

// fillQuestion collects the questions from the pages as they are shown, if no hook reported them.
func fillQuestion(r *agent.Request, d *agent.Dialog) {
	if len(r.Questions) == 0 {
		for _, header := range d.Tabs {
			r.Questions = append(r.Questions, agent.Question{Header: header})
		}
		if len(d.Tabs) == 0 {
			r.Questions = []agent.Question{{Header: d.Title}}
		}
	}
	r.QuestionCurrent = d.Current
	if d.Confirm || d.Current >= len(r.Questions) {
		r.QuestionCurrent = len(r.Questions)
		r.Title, r.Text = nil, agent.Pointer(d.Body)
		return
	}
	q := &r.Questions[d.Current]
	if q.Text == "" {
		q.Text = d.Body
		for _, o := range d.Options[:len(d.Options)-1] {
			q.MultiSelect = q.MultiSelect || o.Multiple
			q.Options, q.Descriptions = append(q.Options, o.Label), append(q.Descriptions, o.More)
		}
	}
	r.Title, r.Text, r.Options = agent.Pointer(q.Header), agent.Pointer(q.Text), q.Options
}
