package forks

import (
	"encoding/json"
	"slices"
	"strings"

	"berth/agent"
)

// Names of the tools that Gemini CLI and Qwen Code both have.
const (
	ToolShell = "run_shell_command"
	ToolWrite = "write_file"
)

// Tools are the names of the tools with a command or a change of a file, and of the fields of their inputs.
type Tools struct {
	Shell, Write, Edit   string
	File, Text, Old, New string
	Every                string            // of an edit: it replaces each place
	Writes               agent.Does        // what Write does to a file
	Main                 map[string]string // for other tools: the field that says what the tool does
	PathLimit            int               // dialogs leave out folders of a longer path; 0: they don't
	Blanks               bool              // dialogs leave out changes of blanks
	Escaped              bool              // a path may have escapes as in a shell
	Sed                  bool              // a command of sed may be drawn and made as an edit
}

// Files are the tools and fields of Gemini CLI, which Qwen Code has too. every is an edit's field for all places.
func Files(edit, every string) Tools {
	return Tools{
		Shell: ToolShell, Write: ToolWrite, Edit: edit, File: "file_path", Text: "content", Old: "old_string", New: "new_string",
		Every: every, Writes: agent.Writes,
	}
}

// LeavingOut are the tools of an agent whose dialogs leave out folders of a path with more characters, and changes of blanks.
func (t Tools) LeavingOut(path int, blanks bool) Tools {
	t.PathLimit, t.Blanks = path, blanks
	return t
}

// Escaping are the tools of an agent that takes escapes as in a shell, and blanks at both ends, out of a path.
func (t Tools) Escaping() Tools {
	t.Escaped = true
	return t
}

// DrawingSed are the tools of an agent that may draw a command of sed as an edit, and make that edit itself.
func (t Tools) DrawingSed() Tools {
	t.Sed = true
	return t
}

// Titles are tools by how the titles of their dialogs start.
type Titles []struct{ Starts, Tool string }

// Tool is the tool of the dialog with that title; empty for another one.
func (t Titles) Tool(title string) string {
	for _, one := range t {
		if strings.HasPrefix(title+" ", one.Starts) {
			return one.Tool
		}
	}
	return ""
}

// Has reports whether the tool is one of them.
func (t Titles) Has(tool string) bool {
	return slices.ContainsFunc(t, func(one struct{ Starts, Tool string }) bool { return one.Tool == tool })
}

// ReadCommand reads the input of a tool for commands: what it runs, and what that is for.
func ReadCommand(raw json.RawMessage) (command, says string, err error) {
	in, err := agent.ReadInput(raw)
	if err == nil {
		err = in.Texts(map[string]*string{"command": &command, "description": &says})
	}
	return command, says, err
}

// Changes reports whether the tool changes a file.
func (t Tools) Changes(tool string) bool { return tool != "" && (tool == t.Write || tool == t.Edit) }

// WithCommand returns a command's input with the command that its permission names, and whether the input has another one or
// none.
func WithCommand(input json.RawMessage, command string) (raw json.RawMessage, other bool) {
	in, err := agent.ReadInput(input)
	if err == nil && in.Words("command") == command {
		return input, false
	}
	if in == nil {
		in = agent.Input{}
	}
	in["command"] = agent.Encoded(command)
	return agent.Encoded(in), true
}

// Subject reads the command or the change of a file from a tool's input.
func (t Tools) Subject(p *agent.Request) (agent.Subject, bool) {
	if p.Type != agent.PromptPermission {
		return agent.Subject{}, false
	}
	return agent.ReadSubject(p.Raw, func(in agent.Input, s *agent.Subject) {
		switch agent.Value(p.Tool) {
		case t.Shell:
			if texts := in.TakeTexts("command"); texts != nil {
				s.Command = texts[0]
			}
		case t.Write:
			if texts := in.TakeTexts(t.File, t.Text); texts != nil {
				s.Changes = []agent.Change{{File: texts[0], Does: t.Writes, Text: &texts[1]}}
			}
		case t.Edit:
			if texts := in.TakeTexts(t.File, t.Old, t.New); texts != nil {
				edit := agent.Edit{Old: texts[1], New: texts[2], Every: t.Every != "" && in.TakeFlag(t.Every)}
				s.Changes = []agent.Change{{File: texts[0], Does: agent.Edits, Edits: []agent.Edit{edit}}}
			} else if texts := in.TakeTexts(t.File, "diff"); texts != nil {
				s.Changes = []agent.Change{{File: texts[0], Does: agent.Edits, Patch: patch(texts[1])}}
			}
		}
	})
}

// patch has the lines of a diff from its first hunk on. The names of files are above it.
func patch(diff string) (lines []agent.PatchLine) {
	for line := range strings.Lines(diff) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "@@"), strings.HasPrefix(line, `\`):
			lines = append(lines, agent.PatchLine{Sign: '@', Text: line})
		case line != "" && len(lines) > 0:
			lines = append(lines, agent.PatchLine{Sign: line[0], Text: line[1:]})
		}
	}
	return lines
}

// AddPart adds what the dialog of a permission draws, as a field of that name, if it is of one of these kinds.
func AddPart[V any](input map[string]V, field string, dialog json.RawMessage, kinds ...string) {
	if in, err := agent.ReadInput(dialog); err == nil && slices.Contains(kinds, in.Words("kind")) {
		input[field], _ = any(dialog).(V)
	}
}

// Drawn is the prompt of a dialog that no other source reported, as far as all agents have it.
func Drawn(d *agent.Dialog) *agent.Request {
	return &agent.Request{
		Type: d.Type, Subtype: agent.Pointer(d.Subtype), Tool: agent.Pointer(d.Tool), Modal: true, Channel: agent.ChannelKeys, Alike: d.Alike,
	}
}

// Permission is the prompt of a tool's permission. Its options depend on the call, so it has none until its dialog
// shows them. SetInput adds its input.
func Permission(tool, agentType string, input json.RawMessage) *agent.Request {
	return &agent.Request{
		Type: agent.PromptPermission, Tool: agent.Pointer(tool), Agent: agent.Pointer(agentType), Options: []string{},
		OptionsFallback: true, Modal: true, Channel: agent.ChannelKeys, Raw: input,
	}
}

// SetInput shows the field that says what the tool does, or else all fields. The input of a change of a file is the
// file.
func (t Tools) SetInput(r *agent.Request, tool string, input json.RawMessage) {
	field := t.Main[tool]
	switch {
	case tool == t.Shell:
		field = "command"
	case t.Changes(tool):
		field = t.File
	}
	in, err := agent.ReadInput(input)
	var main *string
	if err == nil {
		main, err = in.Text(field)
	}
	if err != nil && len(input) > 0 {
		r.Text = agent.Pointer(agent.Unreadable)
	}
	if agent.Value(main) == "" {
		if whole := agent.Compact(input); whole != "" {
			r.SetInput(whole)
		}
		return
	}
	if r.SetInput(*main); t.Changes(tool) {
		r.FullInput = agent.Compact(input)
		r.InputBytes, r.InputTruncated = len(r.FullInput), true
	}
}

// Undrawn is what no dialog draws of a command or a change of a file. An unreadable input
// is shown as such. dir is the session's folder.
func (t Tools) Undrawn(tool string, input json.RawMessage, dir string) string {
	switch in, err := agent.ReadInput(input); {
	case err == nil && tool == t.Shell:
		bySed := t.editBySed(in.Words("command"))
		return Joined(UndrawnOfCommand(in), bySed)
	case err == nil && t.Changes(tool):
		return t.undrawnOfChange(tool, in, dir)
	}
	return ""
}

// ReadQuestions fills the prompt of a question from the call of a tool that asks questions. Only Gemini CLI has questions of yes or
// no, and draws no header of a single question. What can't be read here is shown by the dialog.
func ReadQuestions(r *agent.Request, input json.RawMessage, gemini bool) {
	var in struct {
		Questions []struct {
			Question, Header string
			Type             string
			MultiSelect      bool
			Multiple         bool // in its place
			Placeholder      string
			Options          []struct{ Label, Description string }
		}
	}
	r.Type, r.Questions, r.Options = agent.PromptQuestion, nil, nil
	if agent.ReadExactly(input, &in, "questions", "question", "header", "type", "multiSelect", "multiple", "placeholder", "options", "label", "description") != nil {
		return
	}
	for _, q := range in.Questions {
		one := agent.Question{Header: q.Header, Text: q.Question, MultiSelect: q.MultiSelect || q.Multiple, Hint: q.Placeholder}
		for _, o := range q.Options {
			one.Options, one.Descriptions = append(one.Options, o.Label), append(one.Descriptions, o.Description)
		}
		if gemini && q.Type == "yesno" {
			one.Options, one.Descriptions, one.MultiSelect = []string{"Yes", "No"}, []string{"", ""}, false
		}
		r.Questions = append(r.Questions, one)
	}
	if gemini && len(r.Questions) == 1 {
		r.Questions[0].Header = ""
	}
	if len(r.Questions) > 0 {
		q := r.Questions[0]
		r.Title, r.Text, r.Options = agent.Pointer(q.Header), agent.Pointer(q.Text), q.Options
	}
}

// FillQuestion adds the question that the dialog shows: its index, its text and its options. The questions that no
// hook reported are collected from their pages.
func FillQuestion(r *agent.Request, d *agent.Dialog, current func() int, text string, options []agent.Option) {
	if len(r.Questions) == 0 {
		for _, header := range d.Tabs {
			r.Questions = append(r.Questions, agent.Question{Header: header})
		}
		if len(d.Tabs) == 0 {
			r.Questions = []agent.Question{{Header: d.Title}}
		}
	}
	r.QuestionCurrent = current()
	if d.Confirm || r.QuestionCurrent >= len(r.Questions) {
		r.QuestionCurrent = len(r.Questions)
		r.Title, r.Text = nil, agent.Pointer(d.Body)
		return
	}
	q := &r.Questions[r.QuestionCurrent]
	if q.Text == "" {
		q.Text = text
		for _, o := range options {
			q.MultiSelect = q.MultiSelect || o.Multiple
			q.Options, q.Descriptions = append(q.Options, o.Label), append(q.Descriptions, o.More)
		}
	}
	r.Title, r.Text, r.Options = agent.Pointer(q.Header), agent.Pointer(q.Text), q.Options
}
