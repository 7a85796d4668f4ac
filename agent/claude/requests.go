package claude

import (
	"encoding/json"
	"slices"
	"strings"

	"berth/agent"
	"berth/agent/drawn"
)

// Names of the tools whose permission is a question of its own kind.
const (
	toolQuestion = "AskUserQuestion"
	toolPlan     = "ExitPlanMode"
)

// What a question offers beside its own options.
const (
	optionOther = "Type something."
	optionChat  = "Chat about this"
)

// request is what a permission for the tool asks, as far as its input tells.
func request(tool string, input json.RawMessage, agentType string) *agent.Request {
	r := &agent.Request{
		Type: agent.PromptPermission, Tool: agent.Pointer(tool), Agent: agent.Pointer(agentType),
		Title: agent.Pointer(titles[tool]), OptionsFallback: true, Modal: true, Channel: agent.ChannelKeys, Raw: input,
	}
	switch tool {
	case toolQuestion:
		asks(r, input)
	case toolPlan:
		var in struct{ Plan, PlanFilePath string }
		err := agent.ReadExactly(input, &in, "plan", "planFilePath")
		r.Type, r.Text = agent.PromptPlan, agent.Pointer(in.Plan)
		unread(r, input, err)
		if more := strings.TrimPrefix(in.PlanFilePath+"\n"+beside(input, "plan", "planFilePath"), "\n"); err == nil && more != "" {
			r.SetInput(strings.TrimSuffix(more, "\n"))
		}
	default:
		setInput(r, tool, input)
	}
	return r
}

// titles are what the dialogs of these tools are headed by.
var titles = map[string]string{
	"Bash": "Bash command", "Edit": "Edit file", "Write": "Create file", "WebFetch": "Fetch",
	toolPlan: "Ready to code?",
}

func asks(r *agent.Request, input json.RawMessage) {
	var in struct {
		Questions []struct {
			Question, Header string
			MultiSelect      bool
			Options          []struct{ Label, Description, Preview string }
		}
	}
	err := agent.ReadExactly(input, &in, "questions", "question", "header", "multiSelect", "options", "label", "description", "preview")
	r.Type, r.Options = agent.PromptQuestion, nil
	if unread(r, input, err); err != nil {
		return // the dialog shows what the input lacks
	}
	for _, q := range in.Questions {
		one := agent.Question{Header: q.Header, Text: q.Question, MultiSelect: q.MultiSelect}
		for _, o := range q.Options {
			one.Options = append(one.Options, o.Label)
			one.Descriptions = append(one.Descriptions, o.Description)
			one.Previews = one.Previews || o.Preview != ""
		}
		r.Questions = append(r.Questions, one)
	}
	if len(r.Questions) > 0 {
		q := r.Questions[0]
		r.Title, r.Text = agent.Pointer(q.Header), agent.Pointer(q.Text)
		r.Options = append(append([]string{}, q.Options...), optionOther, optionChat)
	}
}

// unread shows an input that can't be parsed as the agent sent it. It shows nothing
// without an input.
func unread(r *agent.Request, input json.RawMessage, err error) {
	if whole := agent.Compact(input); err != nil && whole != "" {
		r.SetInput(whole)
		r.Text = agent.Pointer(agent.Unreadable)
	}
}

// mainField is the field of a tool's input that says what it does.
var mainField = map[string]string{
	"Bash": "command", "WebFetch": "url", "WebSearch": "query", "Read": "file_path", "Edit": "file_path",
	"Write": "file_path", "NotebookEdit": "notebook_path", "Agent": "prompt", "Skill": "skill",
}

// setInput shows the field that says what the tool does. Where the input holds
// more than a person has to know (the text of a file), the whole is the full
// input, and the short one is marked as cut.
func setInput(r *agent.Request, tool string, input json.RawMessage) {
	in, err := agent.ReadInput(input)
	if err != nil {
		r.Text = agent.Pointer(agent.Unreadable)
	}
	if main, err := in.Text(mainField[tool]); err == nil && agent.Value(main) != "" {
		r.SetInput(*main)
		if tool == "Bash" || tool == "WebFetch" || tool == "WebSearch" || tool == "Read" {
			r.Text = agent.Pointer(beside(input, mainField[tool], "description"))
			return
		}
		r.FullInput = agent.Compact(input)
		r.InputBytes, r.InputTruncated = len(r.FullInput), true
		return
	}
	if whole := agent.Compact(input); whole != "" {
		r.SetInput(whole)
	}
}

// beside returns the other fields of an input, one on each line, without those that only
// describe it. They matter: one may say that a command runs outside of the sandbox.
func beside(input json.RawMessage, but ...string) string {
	var lines []string
	in, err := agent.ReadInput(input)
	for _, name := range names(input) {
		if value := agent.Compact(in[name]); err == nil && !slices.Contains(but, name) {
			lines = append(lines, name+": "+value)
		}
	}
	return strings.Join(lines, "\n")
}

// form is what an MCP server asks by elicitation.
func form(server, message string, schema json.RawMessage) *agent.Request {
	return &agent.Request{
		Type: agent.PromptForm, Title: agent.Pointer("MCP server “" + server + "” requests your input"),
		Text: agent.Pointer(message), Schema: schema, Options: []string{"Accept", "Decline"}, OptionsFallback: true,
		Modal: true, Channel: agent.ChannelKeys,
	}
}

// dialogOpen is what the live file says of dialogs that ask nothing about the
// work.
const dialogOpen = "dialog open"

// Waiting is what the live file's "waiting" asks: it says no more than that
// there is a dialog. The call that has not come back is what it asks about.
func (Driver) Waiting(f *agent.Fact) *agent.Request {
	if f.Text != dialogOpen && f.Tool != "" {
		return request(f.Tool, f.Input, f.AgentType)
	}
	r := &agent.Request{Type: agent.PromptPermission, Modal: true, Channel: agent.ChannelKeys, OptionsFallback: true, Options: []string{}}
	if f.Text == dialogOpen {
		r.Type = agent.PromptNotice
	}
	return r
}

// FromDialog is the prompt of a dialog that no other source told of.
func (d Driver) FromDialog(dialog *agent.Dialog) *agent.Request {
	r := &agent.Request{
		Type: dialog.Type, Subtype: agent.Pointer(dialog.Subtype), Agent: agent.Pointer(dialog.Agent),
		Tool: agent.Pointer(dialog.Tool), Modal: true, Channel: agent.ChannelKeys,
	}
	switch {
	case r.Type == agent.PromptPermission && dialog.Subtype == "" && dialog.Asked != "":
		r.SetInput(dialog.Asked)
		r.Text = agent.Pointer(besideAsked(dialog))
		wholeInput(r, dialog)
	case r.Type == agent.PromptPermission && dialog.Subtype == "" && !dialog.Cut:
	case r.Type == agent.PromptPermission, r.Type == agent.PromptPlan, r.Type == agent.PromptForm:
		r.Text = agent.Pointer(dialog.Body) // of one that is cut less than it asks about
	}
	d.Fill(r, dialog)
	return r
}

// wholeInput keeps all that the dialog shows, where that is more than a line can
// tell: of a file the change, of a command a description that cannot be told from it.
func wholeInput(r *agent.Request, d *agent.Dialog) {
	if d.Tool == "Bash" && readDrawn(d).setsApart() {
		return
	}
	lines := rowsOf(d.Rows)
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	if all := strings.Trim(strings.Join(lines, "\n"), "\n"); strings.TrimSpace(all) != d.Asked {
		r.FullInput, r.InputBytes, r.InputTruncated = all, len(all), true
	}
}

// sameTab says whether a tab is that question's: a bar without room cuts it short,
// and so may be the header of a question that only such a bar told of.
func sameTab(header, tab string) bool {
	h, headerCut := strings.CutSuffix(drawn.Squeeze(header), "…")
	t, tabCut := strings.CutSuffix(drawn.Squeeze(tab), "…")
	return h == t || tabCut && strings.HasPrefix(h, t) || headerCut && strings.HasPrefix(t, h)
}

// Fill puts into the prompt what the dialog tells: its title, its options, and
// of several questions which is shown.
func (Driver) Fill(r *agent.Request, dialog *agent.Dialog) {
	r.ShownBy(dialog)
	switch r.Type {
	case agent.PromptQuestion:
		fillQuestion(r, dialog)
	case agent.PromptPlan, agent.PromptForm, agent.PromptPermission: // what it asks was shown under its id, or is another prompt
		if r.Type == agent.PromptForm && len(r.Schema) == 0 && len(dialog.Fields) > 0 {
			r.SetInput(filledIn(dialog))
		}
	default:
		r.Text = agent.Pointer(dialog.Body)
	}
	if r.URL == nil { // which is drawn whole but once
		r.URL = agent.Pointer(dialog.URL)
	}
	if r.Agent == nil {
		r.Agent = agent.Pointer(dialog.Agent)
	}
}

// filledIn shows the values of a form's fields. accept sends them when the schema is unknown.
func filledIn(dialog *agent.Dialog) string {
	var lines []string
	for _, f := range dialog.Fields {
		value := "not set"
		if f.Value != "" { // of one that is not set it is the rest of its label, or wrong
			value = f.Value
		}
		lines = append(lines, f.Label+": "+value)
	}
	return strings.Join(lines, "\n")
}

// fillQuestion: what no hook told is put together from the pages as they are
// shown.
func fillQuestion(r *agent.Request, dialog *agent.Dialog) {
	if len(r.Questions) == 0 {
		for _, header := range dialog.Tabs {
			r.Questions = append(r.Questions, agent.Question{Header: header})
		}
	}
	for i, tab := range dialog.Tabs {
		if i < len(r.Questions) && strings.HasSuffix(r.Questions[i].Header, "…") && !strings.HasSuffix(tab, "…") {
			r.Questions[i].Header = tab // which had no room on an earlier page
		}
	}
	r.QuestionCurrent = current(r, dialog)
	if r.QuestionCurrent >= len(r.Questions) {
		r.Text = agent.Pointer(dialog.Body)
		return
	}
	q := &r.Questions[r.QuestionCurrent]
	if q.Text == "" {
		readQuestion(q, dialog)
	}
	r.Text, r.Title = agent.Pointer(q.Text), agent.Pointer(q.Header)
	if len(q.Options) <= len(r.Options) {
		copy(r.Options, q.Options) // a label without room is shown in part
	}
	if n := len(q.Options); n < len(r.Options) && r.Options[n] != optionChat {
		r.Options[n] = optionOther // which shows what is typed into it
	}
}

func readQuestion(q *agent.Question, dialog *agent.Dialog) {
	q.Text = dialog.Body
	for _, o := range dialog.Options {
		if o.Label == optionChat || strings.HasPrefix(o.Label, strings.TrimSuffix(optionOther, ".")) {
			break
		}
		q.Options, q.Descriptions = append(q.Options, o.Label), append(q.Descriptions, o.More)
		q.MultiSelect = q.MultiSelect || o.Multiple
	}
	q.Previews = previews(dialog)
}

// current is which question the dialog shows, found by its text: the tabs only
// say which are answered. One not seen before is the first that was not read.
func current(r *agent.Request, dialog *agent.Dialog) int {
	if dialog.Confirm {
		return len(r.Questions)
	}
	if dialog.Tab > 0 && dialog.Tab <= len(r.Questions) {
		return dialog.Tab - 1
	}
	shown := drawn.Squeeze(dialog.Body)
	for i, q := range r.Questions {
		if text := drawn.Squeeze(q.Text); text != "" && strings.Contains(shown, text) {
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
