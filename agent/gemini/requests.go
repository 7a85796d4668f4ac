package gemini

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"berth/agent"
	"berth/agent/forks"
	"berth/terminal"
)

// Names of the tools that Berth treats specially.
const (
	toolShell     = forks.ToolShell
	toolWrite     = forks.ToolWrite
	toolEdit      = "replace"
	toolAsk       = "ask_user"
	toolPlan      = "exit_plan_mode"
	toolEnterPlan = "enter_plan_mode"
)

// Kinds of confirmations, in the notification's words.
const (
	kindExec = "exec"
	kindEdit = "edit"
	kindAsk  = "ask_user"
	kindPlan = "exit_plan_mode"
)

// details is a notification's description of its prompt.
type details struct {
	Kind    string `json:"type"`
	Title   string `json:"title"`
	Command string `json:"command"`
	File    string `json:"filePath"`
	Diff    string `json:"fileDiff"`
	Prompt  string `json:"prompt"`
}

// The options of the dialogs, until they are read from the screen.
var (
	allowing = []string{"Allow once", "Allow for this session", "No, suggest changes (esc)"}
	editing  = []string{"Allow once", "Allow for this session", "Modify with external editor", "No, suggest changes (esc)"}
	planning = []string{"Yes, automatically accept edits", "Yes, manually accept edits", "Type your feedback..."}
)

// asked makes the prompt of a notification, which doesn't name the tool: Names finds it.
func asked(d *details) *agent.Request {
	r := permission()
	switch d.Kind {
	case kindAsk:
		r.Type, r.Tool = agent.PromptQuestion, agent.Pointer(toolAsk)
	case kindPlan:
		r.Type, r.Tool, r.Title, r.Options = agent.PromptPlan, agent.Pointer(toolPlan), agent.Pointer(askReady), planning
	case kindExec:
		r.Tool, r.Title = agent.Pointer(toolShell), agent.Pointer("Shell")
		r.SetInput(d.Command)
	case kindEdit:
		r.Title, r.Options = agent.Pointer(d.Title), editing
		r.SetInput(d.File)
		if d.Diff != "" {
			r.FullInput, r.InputBytes, r.InputTruncated = d.Diff, len(d.Diff), true
		}
	default:
		r.Title = agent.Pointer(d.Title)
		r.Tool = agent.Pointer(tools[d.Title])
		if d.Prompt != "" {
			r.SetInput(d.Prompt)
		}
	}
	return r.Clone()
}

func permission() *agent.Request {
	return &agent.Request{
		Type: agent.PromptPermission, Options: allowing, OptionsFallback: true, Modal: true, Channel: agent.ChannelKeys,
	}
}

// Names completes a notification's prompt with its call: for a command or a file the call with the
// same one, otherwise the call of the same tool.
func (Driver) Names(asked, call *agent.Fact) *agent.Request {
	r := asked.Request.Clone()
	if r.Tool != nil && *r.Tool != call.Tool {
		return nil
	}
	in, err := readInput(call.Input)
	if err != nil {
		return nil
	}
	switch {
	case r.Type == agent.PromptQuestion:
		asks(r, call.Input)
	case r.Type == agent.PromptPlan:
		r.Input = nil
		setPlan(r, call.Input)
	case r.Tool != nil && *r.Tool == toolShell:
		if strings.TrimSpace(in.Command) != strings.TrimSpace(r.FullInput) {
			return nil
		}
	case len(r.Options) == len(editing):
		if in.File == "" || !sameFile(in.File, agent.Value(r.Input)) {
			return nil
		}
	case r.Input == nil:
		setInput(r, call.Tool, call.Input)
	}
	r.Tool, r.Raw = agent.Pointer(call.Tool), call.Input
	return r
}

// DialogNames: tools has the tools that a dialog names.
func (Driver) DialogNames(tool string) bool {
	return slices.Contains(slices.Collect(maps.Values(tools)), tool)
}

// sameFile: the call's path may be relative to its own folder.
func sameFile(named, full string) bool {
	return named == full || strings.HasSuffix(full, "/"+strings.TrimPrefix(named, "./"))
}

// Waiting makes the prompt for the title "Action Required" from the pending tool call, if there is
// one.
func (Driver) Waiting(f *agent.Fact) *agent.Request {
	r := permission()
	r.Tool, r.Raw = agent.Pointer(f.Tool), f.Input
	switch f.Tool {
	case toolAsk:
		r.Type = agent.PromptQuestion
		asks(r, f.Input)
	case toolPlan:
		r.Type, r.Title, r.Options = agent.PromptPlan, agent.Pointer(askReady), planning
		setPlan(r, f.Input)
	default:
		setInput(r, f.Tool, f.Input)
	}
	return r.Clone()
}

func asks(r *agent.Request, input json.RawMessage) {
	var in struct {
		Questions []struct {
			Question, Header string
			Type             string
			MultiSelect      bool
			Placeholder      string
			Options          []struct{ Label, Description string }
		}
	}
	r.Questions, r.Options = nil, nil
	if agent.ReadExactly(input, &in, "questions", "question", "header", "type", "multiSelect", "placeholder", "options", "label", "description") != nil {
		return // the dialog shows what can't be read here
	}
	for _, q := range in.Questions {
		one := agent.Question{Header: q.Header, Text: q.Question, MultiSelect: q.MultiSelect, Hint: q.Placeholder}
		for _, o := range q.Options {
			one.Options = append(one.Options, o.Label)
			one.Descriptions = append(one.Descriptions, o.Description)
		}
		if q.Type == "yesno" {
			one.Options, one.Descriptions, one.MultiSelect = []string{"Yes", "No"}, []string{"", ""}, false
		}
		r.Questions = append(r.Questions, one)
	}
	if len(r.Questions) == 1 {
		r.Questions[0].Header = "" // headers are drawn as tabs, and a single question has none
	}
	if len(r.Questions) > 0 {
		q := r.Questions[0]
		r.Title, r.Text, r.Options = agent.Pointer(q.Header), agent.Pointer(q.Text), q.Options
	}
}

func setPlan(r *agent.Request, input json.RawMessage) {
	in, _ := agent.ReadInput(input) // without it, the dialog shows the plan
	if path, err := in.Text("plan_path"); err == nil && agent.Value(path) != "" {
		r.SetInput(*path)
	}
}

// setInput shows the field that says what the tool does, or else all fields.
func setInput(r *agent.Request, tool string, input json.RawMessage) {
	in, err := agent.ReadInput(input)
	if err != nil && len(input) > 0 {
		r.Text = agent.Pointer(agent.Unreadable)
	}
	field := map[string]string{toolShell: "command", toolWrite: "file_path", toolEdit: "file_path", toolEnterPlan: "reason"}[tool]
	if main, err := in.Text(field); err == nil && agent.Value(main) != "" {
		r.SetInput(*main)
		if tool == toolWrite || tool == toolEdit {
			r.FullInput = agent.Compact(input)
			r.InputBytes, r.InputTruncated = len(r.FullInput), true
		}
		return
	}
	if whole := agent.Compact(input); whole != "" {
		r.SetInput(whole)
	}
}

// Undrawn is the folder that a command runs in, and that it continues in the background. A command's
// description isn't part of what it does. Of an edit it is the lines with characters that Gemini doesn't
// draw, or draws as nothing.
func (Driver) Undrawn(tool string, input json.RawMessage, _ string) string {
	in, err := agent.ReadInput(input)
	if err != nil {
		return "" // an unreadable input is shown as such
	}
	switch tool {
	case toolShell:
		return forks.UndrawnOfCommand(in)
	case toolWrite, toolEdit:
		return forks.UndrawnOfEdit(in)
	}
	return ""
}

// FromDialog makes the prompt of a dialog that no other source reported.
func (d Driver) FromDialog(dialog *agent.Dialog) *agent.Request {
	r := &agent.Request{
		Type: dialog.Type, Subtype: agent.Pointer(dialog.Subtype), Tool: agent.Pointer(dialog.Tool),
		Modal: true, Channel: agent.ChannelKeys,
	}
	if r.Type == agent.PromptPermission && dialog.Subtype == "" {
		input, _, _ := strings.Cut(dialog.Body, "\n")
		rows, _ := inner(dialog.Lines)
		if len(rows) > 0 && dialog.Tool == toolShell {
			input = strings.Join(rows, "\n") // the first row shows as much as fits
			r.Text = agent.Pointer(beside(dialog))
			if dialog.Cut { // its first rows aren't drawn
				input, r.Text = "", agent.Pointer(dialog.Body)
			}
		}
		if input = strings.TrimSpace(input); input != "" && !isHidden(input) {
			r.SetInput(input)
		}
		if len(rows) == 0 || dialog.Tool != toolShell {
			r.FullInput, r.InputBytes, r.InputTruncated = dialog.Body, len(dialog.Body), dialog.Body != input
		}
	}
	d.Fill(r, dialog)
	return r
}

// inner returns the rows of the command's box inside a dialog, and the width of a row in columns.
func inner(rows []string) (lines []string, columns int) {
	first, last := innerBox(rows)
	for _, row := range rows[first:last] {
		row = strings.TrimSuffix(strings.TrimPrefix(strings.TrimRight(row, " "), "│"), "│")
		lines = append(lines, strings.TrimRight(strings.TrimPrefix(row, " "), " "))
	}
	if len(lines) > 0 {
		columns = terminal.StringWidth(strings.TrimRight(rows[first-1], " ")) - 4
	}
	return lines, columns
}

// innerBox is where the rows in the command's box start and end. It is the topmost box without an
// indent. Above it Gemini draws the model's text, indented, and below it the paths that a command
// may access: both can draw another box.
func innerBox(rows []string) (first, last int) {
	for first < len(rows) && !strings.HasPrefix(rows[first], "╭──") {
		first++
	}
	first = min(first+1, len(rows))
	for last = first; last < len(rows) && strings.HasPrefix(rows[last], "│"); {
		last++
	}
	if last == len(rows) || !strings.HasPrefix(rows[last], "╰──") {
		return 0, 0
	}
	return first, last
}

// Fill adds what only the dialog shows: its options, and of several questions the number of the
// shown one.
func (Driver) Fill(r *agent.Request, dialog *agent.Dialog) {
	if dialog.Title != "" && (r.Title == nil || r.Type != agent.PromptPermission || r.OptionsFallback) {
		r.Title = &dialog.Title
	}
	r.Lines, r.Ready = dialog.Lines, true
	r.Options, r.OptionsFallback = dialog.Labels(), false
	switch r.Type {
	case agent.PromptQuestion:
		fillQuestion(r, dialog)
	case agent.PromptPermission:
		if r.Subtype != nil && r.Text == nil {
			r.Text = agent.Pointer(dialog.Body)
		}
		if r.Tool == nil {
			r.Tool = agent.Pointer(dialog.Tool)
		}
	default:
		r.Text = agent.Pointer(dialog.Body)
	}
}

// optionAll ticks all options.
const optionAll = "All of the above"

// selectAll is below a question that takes several options.
const selectAll = "(Select all that apply)"

// fillQuestion collects the questions from the pages as they are shown, if no hook reported them.
func fillQuestion(r *agent.Request, dialog *agent.Dialog) {
	if len(r.Questions) == 0 {
		for _, header := range dialog.Tabs {
			r.Questions = append(r.Questions, agent.Question{Header: header})
		}
		if len(dialog.Tabs) == 0 {
			r.Questions = []agent.Question{{}}
		}
	}
	r.QuestionCurrent = current(r, dialog)
	if r.QuestionCurrent >= len(r.Questions) {
		r.Title, r.Text = nil, agent.Pointer(dialog.Body)
		return
	}
	q := &r.Questions[r.QuestionCurrent]
	if q.Text == "" {
		q.Text = questionShown(dialog)
		for _, o := range dialog.Options {
			if q.MultiSelect = q.MultiSelect || o.Multiple; o.Label != hintOwn {
				q.Options, q.Descriptions = append(q.Options, o.Label), append(q.Descriptions, o.More)
			}
		}
	}
	if reported(r) && len(q.Options) > 0 && (q.MultiSelect || len(dialog.Options) < len(q.Options) || dialog.Options[0].Number != 1) {
		r.Options = q.Options // the dialog shows three of them at a time
	}
	r.Title, r.Text = agent.Pointer(q.Header), agent.Pointer(q.Text)
}

// current is the index of the shown question, found by its text: the tabs only show which ones are
// answered. An unknown question is the first that wasn't read.
func current(r *agent.Request, dialog *agent.Dialog) int {
	if dialog.Confirm {
		return len(r.Questions)
	}
	shown := plainText(questionShown(dialog))
	for i, q := range r.Questions {
		if q.Text != "" && plainText(q.Text) == shown {
			return i
		}
	}
	for i, q := range r.Questions {
		if q.Text == "" {
			return i
		}
	}
	return r.QuestionCurrent
}
