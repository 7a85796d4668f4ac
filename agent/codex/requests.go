package codex

import (
	"encoding/json"
	"strings"

	"berth/agent"
)

// Names of the tools as the hooks have them.
const (
	toolCommand  = "Bash"
	toolPatch    = "apply_patch"
	toolQuestion = "request_user_input"
)

// logCommand is what the session log calls the tool for commands.
const logCommand = "exec_command"

// kindQuestion is what the state sequence says is asked when it is no
// permission.
const kindQuestion = "question"

// permission is what a permission for the tool asks, as far as its input
// tells.
func permission(tool string, input json.RawMessage, agentType string) *agent.Request {
	r := &agent.Request{
		Type: agent.PromptPermission, Tool: agent.Pointer(tool), Agent: agent.Pointer(agentType), Title: agent.Pointer(titles[tool]),
		// What the dialog will offer depends on the command, and a number stands for
		// what it offers.
		Options: []string{}, OptionsFallback: true, Modal: true, Channel: agent.ChannelKeys, Raw: input,
	}
	command, description, err := readInput(input)
	r.Text = agent.Pointer(description)
	if err != nil && len(input) > 0 {
		command, r.Text = "", agent.Pointer(agent.Unreadable)
	}
	if command == "" {
		command = agent.Compact(input)
	}
	if command != "" {
		r.SetInput(command)
	}
	return r
}

// titles are what the dialogs of these tools are headed by.
var titles = map[string]string{
	toolCommand: "Would you like to run the following command?",
	toolPatch:   "Would you like to make the following edits?",
}

// question is what the tool for questions asks.
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
		return r // the dialog shows what the input lacks
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

// optionOther is what a question offers beside its own options.
const optionOther = "None of the above"

// Waiting is what "blocked" asks: it says whether it is a permission or a
// question. The call that has not come back is what it asks about.
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

// FromDialog is the prompt of a dialog that no other source told of.
func (d Driver) FromDialog(dialog *agent.Dialog) *agent.Request {
	r := &agent.Request{
		Type: dialog.Type, Subtype: agent.Pointer(dialog.Subtype), Tool: agent.Pointer(dialog.Tool),
		Modal: true, Channel: agent.ChannelKeys,
	}
	if r.Type == agent.PromptPermission && dialog.Subtype == "" {
		if input := dialogInput(dialog); input != "" {
			r.SetInput(input)
		}
	}
	d.Fill(r, dialog)
	return r
}

// dialogInput is what a permission's dialog shows of the tool's input: the
// command behind the dollar sign, or where the edits go.
func dialogInput(d *agent.Dialog) string {
	for _, begins := range inputBegins(d) {
		if _, input, ok := strings.Cut("\n"+d.Body, begins); ok {
			return strings.TrimSpace(input)
		}
	}
	return ""
}

// inputBegins is what stands before the tool's input. A dialog that asks something else than to run a
// command or to make edits shows none: its reason can draw some.
func inputBegins(d *agent.Dialog) []string {
	if d.Tool == "" && !d.Cut {
		return nil
	}
	return []string{"\n$ ", "\nDestination: "}
}

// Fill puts into the prompt what the dialog tells: its title, its options, and
// of several questions which is shown.
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
		if !dialog.Cut || r.Text == nil { // what was seen before is longer than what is left on the screen
			r.Text = agent.Pointer(dialog.Body)
		}
	default:
		r.Text = agent.Pointer(dialog.Body)
	}
}

// fillPermission: without the hook the dialog alone tells the reason and the
// command.
func fillPermission(r *agent.Request, dialog *agent.Dialog) {
	if r.Input == nil && dialog.Subtype == "" {
		if input := dialogInput(dialog); input != "" {
			r.SetInput(input)
		}
	}
	switch {
	case r.Text != nil:
	case dialog.Subtype != "":
		r.Text = agent.Pointer(dialog.Body)
	default:
		r.Text = agent.Pointer(dialogText(dialog))
	}
}

// dialogText is what a permission's dialog says beside the tool's input: the reason, and what
// else it asks for, such as the permissions that a command is to have.
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

// ownDescription is Codex's own of each edit.
const ownDescription = "Description: Apply proposed file edits"

// fillQuestion: what no hook told is put together from the pages as they are
// shown.
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
		for _, o := range dialog.Options {
			if o.Label != optionOther {
				q.Options, q.Descriptions = append(q.Options, o.Label), append(q.Descriptions, o.More)
			}
		}
	}
	r.Text = agent.Pointer(q.Text)
}
