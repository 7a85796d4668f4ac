package codex

import (
	"encoding/json"
	"strings"

	"berth/agent"
)

// The tools' names in the hooks.
const (
	toolCommand  = "Bash"
	toolPatch    = "apply_patch"
	toolQuestion = "request_user_input"
)

// logCommand is the session log's name of the command tool.
const logCommand = "exec_command"

// kindQuestion is the state sequence's kind for any prompt that isn't a permission.
const kindQuestion = "question"

// permission makes the prompt of a permission from the tool's input.
func permission(tool string, input json.RawMessage, agentType string) *agent.Request {
	r := &agent.Request{
		Type: agent.PromptPermission, Tool: agent.Pointer(tool), Agent: agent.Pointer(agentType), Title: agent.Pointer(titles[tool]),
		// The options depend on the command, and a number answers the options that are shown. So
		// the prompt has none until the dialog shows them.
		Options: []string{}, OptionsFallback: true, Modal: true, Channel: agent.ChannelKeys, Raw: input,
	}
	command, description, err := readInput(input)
	switch {
	case err != nil && len(input) > 0:
		command, r.Text = "", agent.Pointer(agent.Unreadable)
	case commandAlone(tool, input):
		r.Text = agent.Pointer(description)
	default:
		command = "" // another tool may give a field of this name any meaning
	}
	if more := beyond(command); tool == toolPatch && more != "" {
		r.Text = agent.Pointer(strings.TrimPrefix(agent.Value(r.Text)+"\n\n"+more, "\n\n"))
	}
	if command == "" {
		command = agent.Compact(input)
	}
	if command != "" {
		r.SetInput(command)
	}
	return r
}

// commandAlone reports whether the input has only a command or a patch, and perhaps the reason for it,
// in the form of Codex's own tools. Anything else is shown as a whole.
func commandAlone(tool string, input json.RawMessage) bool {
	fields, err := agent.ReadInput(input)
	delete(fields, "command")
	delete(fields, "description")
	return err == nil && titles[tool] != "" && len(fields) == 0
}

// titles are the heads of these tools' dialogs.
var titles = map[string]string{
	toolCommand: "Would you like to run the following command?",
	toolPatch:   "Would you like to make the following edits?",
}

// question makes the prompt of the question tool.
func question(input json.RawMessage) *agent.Request {
	var in struct {
		Questions []struct {
			Question string
			Options  []struct{ Label, Description string }
		}
	}
	r := &agent.Request{
		Type: agent.PromptQuestion, Tool: agent.Pointer(toolQuestion), OptionsFallback: true, Modal: true, Channel: agent.ChannelKeys,
	}
	if agent.ReadExactly(input, &in, "questions", "question", "header", "options", "label", "description") != nil {
		return r // the dialog shows what can't be read here
	}
	for _, q := range in.Questions { // no dialog draws the header
		one := agent.Question{Text: q.Question}
		for _, o := range q.Options {
			one.Options = append(one.Options, o.Label)
			one.Descriptions = append(one.Descriptions, o.Description)
		}
		r.Questions = append(r.Questions, one)
	}
	if len(r.Questions) > 0 {
		q := r.Questions[0]
		r.Title, r.Text = agent.Pointer(questionTitle(1, len(r.Questions))), agent.Pointer(q.Text)
		r.Options = append(append([]string{}, q.Options...), optionOther)
	}
	return r
}

// optionOther is the option that Codex adds to a question.
const optionOther = "None of the above"

// Waiting makes the prompt of "blocked", which says whether it is a permission or a question. The
// pending tool call is its subject.
func (Driver) Waiting(f *agent.Fact) *agent.Request {
	switch {
	case f.Tool == toolQuestion:
		return question(f.Input)
	case f.Text == kindQuestion:
		return question(nil)
	case f.Tool != "":
		return permission(f.Tool, f.Input, f.AgentType)
	}
	return &agent.Request{Type: agent.PromptPermission, Modal: true, Channel: agent.ChannelKeys, OptionsFallback: true, Options: []string{}}
}

// FromDialog makes the prompt of a dialog that no other source reported.
func (d Driver) FromDialog(dialog *agent.Dialog) *agent.Request {
	r := &agent.Request{
		Type: dialog.Type, Subtype: agent.Pointer(dialog.Subtype), Tool: agent.Pointer(dialog.Tool),
		Modal: true, Channel: agent.ChannelKeys,
	}
	if r.Type == agent.PromptPermission && dialog.Subtype == "" {
		setShown(r, dialog)
	}
	d.Fill(r, dialog)
	return r
}

// setShown sets the input as the dialog shows it. Of edits it shows the files alone.
func setShown(r *agent.Request, dialog *agent.Dialog) {
	input := dialogInput(dialog)
	if input != "" || dialog.Tool == toolPatch {
		r.SetInput(input)
	}
	if dialog.Tool == toolPatch {
		r.SetInPart()
	}
}

// dialogInput is the tool's input as a permission's dialog shows it: the command after the dollar
// sign, or an edit's files.
func dialogInput(d *agent.Dialog) string {
	for _, begins := range inputBegins(d) {
		if _, input, ok := strings.Cut("\n"+d.Body, begins); ok {
			return strings.TrimSpace(input)
		}
	}
	return ""
}

// inputBegins is the text before the tool's input. A dialog that asks about anything but a command
// or an edit shows no input; its reason can draw text that looks like one.
func inputBegins(d *agent.Dialog) []string {
	if aboutElse(d) {
		return nil
	}
	return []string{"\n$ ", "\nDestination: "}
}

// Fill adds what only the dialog shows: its title, its options, and of several questions the number
// of the shown one.
func (Driver) Fill(r *agent.Request, dialog *agent.Dialog) {
	if r.Tool == nil {
		r.Tool = agent.Pointer(dialog.Tool)
	}
	r.ShownBy(dialog)
	switch r.Type {
	case agent.PromptQuestion:
		fillQuestion(r, dialog)
	case agent.PromptPermission:
		fillPermission(r, dialog)
	case agent.PromptPlan:
		if !dialog.Cut || r.Text == nil { // the longer text was read before the dialog lost room
			r.Text = agent.Pointer(dialog.Body)
		}
	default:
		r.Text = agent.Pointer(dialog.Body)
	}
}

// fillPermission: without a hook only the dialog shows the reason and the command. A dialog that
// shows a reported call in part may be another call's, so the call takes no words from it.
func fillPermission(r *agent.Request, dialog *agent.Dialog) {
	if r.Input == nil && dialog.Subtype == "" {
		setShown(r, dialog)
	}
	switch {
	case r.Text != nil, len(r.Raw) > 0 && dialog.Subtype == "" && matchPermission(dialog, r) == agent.PartMatch:
	case dialog.Subtype != "":
		r.Text = agent.Pointer(dialog.Body)
	case len(r.Raw) == 0 && dialog.Tool == toolCommand:
		r.Text = agent.Pointer(strings.TrimSpace(dialogText(dialog) + "\n\n" + notDrawn))
		if (Driver{}).InThread(dialog) {
			r.Text = agent.Pointer(*r.Text + "\n\n" + anyShell + "\n" + folderOf(r))
		}
	case len(r.Raw) == 0 && asksForTool.MatchString(dialog.Title):
		r.Text = agent.Pointer(strings.TrimSpace(dialogText(dialog) + "\n\n" + oneBlank))
	case len(r.Raw) == 0 && aboutElse(dialog):
		r.Text = agent.Pointer(strings.TrimSpace(dialogText(dialog) + "\n\n" + noWidth))
	default:
		r.Text = agent.Pointer(dialogText(dialog))
	}
}

// notDrawn is in the text of a command's prompt that only its dialog shows.
const notDrawn = "Codex draws no tabs and no characters without a width, so this can't show them."

// noWidth is in the text of any other permission's prompt that only its dialog shows.
const noWidth = "Codex draws no characters without a width, so this can't show them."

// oneBlank is in the text of a prompt about a server's tool that only its dialog shows.
const oneBlank = "Codex draws blanks and line breaks as one blank here, and no characters without a width, so this can't show them."

// dialogText is the text of a permission's dialog besides the tool's input: the reason, and other
// things that it asks for, such as permissions for the command.
func dialogText(d *agent.Dialog) string {
	text := "\n" + d.Body
	for _, input := range inputBegins(d) {
		if above, _, ok := strings.Cut(text, input); ok {
			text = above
			break
		}
	}
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		if len(lines) == 0 {
			line = strings.TrimPrefix(line, "Reason: ")
		}
		if strings.TrimSpace(line) == "" && len(lines) == 0 || environment.MatchString(line) && len(lines) == 0 || line == ownDescription {
			continue
		}
		lines = append(lines, line)
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// ownDescription is Codex's own description of every edit.
const ownDescription = "Description: Apply proposed file edits"

// fillQuestion collects the questions from the pages as they are shown, if no hook reported them.
func fillQuestion(r *agent.Request, dialog *agent.Dialog) {
	for len(r.Questions) < len(dialog.Tabs) {
		r.Questions = append(r.Questions, agent.Question{})
	}
	r.QuestionCurrent = dialog.Current
	if dialog.Current >= len(r.Questions) {
		return
	}
	q := &r.Questions[dialog.Current]
	if q.Text == "" {
		q.Text = dialog.Body
		options := dialog.Options
		if last := len(options) - 1; last >= 0 && options[last].Label == optionOther { // Codex's own: the model may name its options so
			options = options[:last]
		}
		for _, o := range options {
			q.Options, q.Descriptions = append(q.Options, o.Label), append(q.Descriptions, o.More)
		}
	}
	r.Text = agent.Pointer(q.Text)
}
