package claude

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"berth/agent"
	"berth/agent/drawn"
)

// Names of the tools whose permission is another type of prompt.
const (
	toolQuestion = "AskUserQuestion"
	toolPlan     = "ExitPlanMode"
)

// The options that Claude adds to a question.
const (
	optionOther = "Type something."
	optionChat  = "Chat about this"
)

// request makes the prompt of a permission from the tool's input.
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
		addText(r, unshown(tool, input))
	}
	return r
}

// titles are the heads of these tools' dialogs.
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
		return // the dialog shows what can't be read here
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

// setInput shows the field that says what the tool does. If the input has more than a person needs
// to read first (a file's text), the full input has all of it, and the short one is marked as cut.
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
		value := agent.Compact(in[name])
		if folder, textErr := in.Text(name); name == workdir && textErr == nil && folder != nil { // the log and a hook may escape it otherwise
			value = strconv.QuoteToASCII(*folder)
		}
		if err == nil && !slices.Contains(but, name) {
			lines = append(lines, name+": "+value)
		}
	}
	return strings.Join(lines, "\n")
}

// form makes the prompt of an MCP server's elicitation: a form to fill in, or an address to open.
func form(server, message, url string, schema json.RawMessage) *agent.Request {
	wants := wantsInput
	if url != "" {
		wants, message = wantsURL, message+"\n\n"+url
	}
	return &agent.Request{
		Type: agent.PromptForm, Title: agent.Pointer("MCP server “" + server + "” " + wants),
		Text: agent.Pointer(message), URL: agent.Pointer(url), Schema: schema, Options: []string{buttonAccept, buttonDecline}, Ready: true,
		Modal: true, Channel: agent.ChannelKeys,
	}
}

// dialogOpen is the state file's text for dialogs that aren't about the work.
const dialogOpen = "dialog open"

// Waiting makes the prompt for the state file's "waiting", which only says that there is a dialog.
// The pending tool call is its subject.
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

// FromDialog makes the prompt of a dialog that no other source reported.
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
	case r.Type == agent.PromptPermission && dialog.Subtype == "" && !dialog.Cut && dialog.Title != workflowTitle:
	case r.Type == agent.PromptPermission, r.Type == agent.PromptPlan, r.Type == agent.PromptForm:
		r.Text = agent.Pointer(dialog.Body) // a cut dialog has only a part of it
	}
	if r.Type == agent.PromptPermission {
		addText(r, unshownBy(dialog))
	}
	d.Fill(r, dialog)
	return r
}

// wholeInput keeps all that the dialog shows if that is more than one line: a file's change, or a
// command with a description that can't be separated from it.
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

// sameTab reports whether a tab is that question's. A bar without room cuts a tab short, and also
// the header of a question that only such a bar showed.
func sameTab(header, tab string) bool {
	h, headerCut := strings.CutSuffix(drawn.Squeeze(header), "…")
	t, tabCut := strings.CutSuffix(drawn.Squeeze(tab), "…")
	return h == t || tabCut && strings.HasPrefix(h, t) || headerCut && strings.HasPrefix(t, h)
}

// Fill adds what only the dialog shows: its title, its options, and of several questions the number
// of the shown one.
func (Driver) Fill(r *agent.Request, dialog *agent.Dialog) {
	r.ShownBy(dialog)
	switch r.Type {
	case agent.PromptQuestion:
		fillQuestion(r, dialog)
	case agent.PromptPlan, agent.PromptForm, agent.PromptPermission: // what it asks was shown under its id, or is another prompt
		switch {
		case r.Type == agent.PromptForm && len(r.Schema) == 0 && len(dialog.Fields) > 0:
			r.SetInput(filledIn(dialog))
		case r.Type == agent.PromptPermission && len(r.Raw) > 0 && dialog.Subtype == "" && asksAbout(dialog, r):
			fillSaid(r, dialog)
		}
	default:
		r.Text = agent.Pointer(dialog.Body)
	}
	if r.URL == nil { // the dialog draws it completely only once
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
		if f.Value != "" { // in an unset field it is the rest of its label, or an error
			value = f.Value
		}
		lines = append(lines, f.Label+": "+value)
	}
	return strings.Join(lines, "\n")
}

// fillQuestion collects the questions from the pages as they are shown, if no hook reported them.
func fillQuestion(r *agent.Request, dialog *agent.Dialog) {
	if len(r.Questions) == 0 {
		for _, header := range dialog.Tabs {
			r.Questions = append(r.Questions, agent.Question{Header: header})
		}
	}
	for i, tab := range dialog.Tabs {
		if i < len(r.Questions) && strings.HasSuffix(r.Questions[i].Header, "…") && !strings.HasSuffix(tab, "…") {
			r.Questions[i].Header = tab // it had no room on an earlier page
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
		r.Options[n] = optionOther // the row shows the typed text
	}
}

func readQuestion(q *agent.Question, dialog *agent.Dialog) {
	q.Text = dialog.Body
	for _, o := range dialog.Options[:len(dialog.Options)-addedOptions(dialog)] {
		q.Options, q.Descriptions = append(q.Options, o.Label), append(q.Descriptions, o.More)
		q.MultiSelect = q.MultiSelect || o.Multiple
	}
	q.Previews = previews(dialog)
}

// current is the index of the shown question, found by its text: the tabs only show which ones are
// answered. An unknown question is the first that wasn't read.
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
