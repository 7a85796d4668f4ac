package gemini

import (
	"cmp"
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
	toolFetch     = "web_fetch"
)

// Kinds of confirmations, in the notification's words.
const (
	kindExec = "exec"
	kindEdit = "edit"
	kindAsk  = "ask_user"
	kindPlan = "exit_plan_mode"

	kindServer = "mcp"
	kindWider  = "sandbox_expansion" // of a command
)

// details is a notification's description of its prompt.
type details struct {
	Kind     string `json:"type"`
	Title    string `json:"title"`
	Command  string `json:"command"`
	File     string `json:"filePath"`
	Diff     string `json:"fileDiff"`
	Prompt   string `json:"prompt"`
	Server   string `json:"serverName"`
	ToolName string `json:"toolName"`
}

// titleFetch is the title of a notification about a page to fetch.
const titleFetch = "Confirm Web Fetch"

// titlesOfChanges are those about changes of files.
var titlesOfChanges = forks.Titles{{Starts: "Confirm Write", Tool: toolWrite}, {Starts: "Confirm Edit", Tool: toolEdit}}

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
		r.Title, r.Tool, r.Options = agent.Pointer(d.Title), agent.Pointer(titlesOfChanges.Tool(d.Title)), editing
		r.SetInput(d.File)
		r.SetWhole(d.Diff)
	default:
		r.Title = agent.Pointer(d.Title)
		r.Tool = agent.Pointer(cmp.Or(tools[d.Title], d.outside()))
		switch {
		case d.Title == titleFetch:
			r.Tool = agent.Pointer(toolFetch)
		case d.Kind == kindWider:
			r.Tool = agent.Pointer(toolShell)
		}
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
// same one, for a found tool that with the same input, otherwise the call of the same tool.
func (d Driver) Names(asked, call *agent.Fact) *agent.Request {
	r := asked.Request.Clone()
	if r.Tool != nil && *r.Tool != call.Tool || r.Tool == nil && d.named(call.Tool) {
		return nil
	}
	in, err := readInput(call.Input)
	if err != nil {
		return nil
	}
	switch {
	case r.Type == agent.PromptQuestion:
		forks.ReadQuestions(r, call.Input, true)
	case r.Type == agent.PromptPlan:
		r.Input = nil
		setPlan(r, call.Input)
	case r.Tool != nil && *r.Tool == toolShell && r.Input != nil:
		if strings.TrimSpace(in.Command) != strings.TrimSpace(r.FullInput) {
			return nil
		}
	case r.Tool != nil && *r.Tool == toolFetch:
		if drawnOfFetch(call.Input) != r.FullInput {
			return nil
		}
	case d.Unnamed(call.Tool) && r.Input != nil:
		if !sameInput(r.FullInput, string(call.Input)) {
			return nil
		}
	case len(r.Options) == len(editing):
		if likeness(r, call.Tool, call.Input) == 0 {
			return nil
		}
	case r.Input == nil:
		tooling.SetInput(r, call.Tool, call.Input)
	}
	r.Tool, r.Raw = agent.Pointer(call.Tool), call.Input
	if tooling.Changes(call.Tool) && len(asked.Request.Options) == len(editing) {
		r.Raw = asResolved(r.Raw, agent.Value(asked.Request.Input))
	}
	if call.Tool == toolWrite {
		r.Raw = asWritten(r.Raw, r.FullInput)
	}
	if tooling.Changes(call.Tool) {
		r.Raw = asChanged(call.Tool, r.Raw, asked.Request.FullInput)
	}
	return r
}

// named reports whether each notification about the tool names it.
func (d Driver) named(tool string) bool {
	return d.Unnamed(tool) || d.DialogNames(tool) || slices.Contains([]string{toolAsk, toolPlan}, tool)
}

// DialogNames: tools has the tools that a dialog names.
func (Driver) DialogNames(tool string) bool {
	return slices.Contains(slices.Collect(maps.Values(tools)), tool)
}

// NamesAlike: a long path is drawn without its folders, and blanks are drawn like others, so changes of files with one name look alike.
// A call with characters that aren't drawn isn't named, and none with more than its lines show. Those of servers' and found tools, and of
// fetched pages, have all in their lines.
func (d Driver) NamesAlike(tool, undrawn string) bool {
	if d.Unnamed(tool) {
		return true
	}
	for line := range strings.SplitSeq(undrawn, "\n") {
		if line != "" && !strings.HasPrefix(line, tooling.File+": ") && !ofBlanks(line) {
			return false
		}
	}
	return tooling.Changes(tool)
}

// Waiting makes the prompt for the title "Action Required" from the pending tool call, if there is
// one.
func (Driver) Waiting(f *agent.Fact) *agent.Request {
	r := permission()
	r.Tool, r.Raw = agent.Pointer(f.Tool), f.Input
	switch f.Tool {
	case toolAsk:
		forks.ReadQuestions(r, f.Input, true)
	case toolPlan:
		r.Type, r.Title, r.Options = agent.PromptPlan, agent.Pointer(askReady), planning
		setPlan(r, f.Input)
	default:
		tooling.SetInput(r, f.Tool, f.Input)
	}
	return r.Clone()
}

func setPlan(r *agent.Request, input json.RawMessage) {
	in, _ := agent.ReadInput(input) // without it, the dialog shows the plan
	if path, err := in.Text("plan_path"); err == nil && agent.Value(path) != "" {
		r.SetInput(*path)
	}
}

// tooling has the tools with a command or a file, and the one that asks for the mode of plans. Gemini draws 35 characters of a path.
var tooling = func() forks.Tools {
	t := forks.Files(toolEdit, "allow_multiple").LeavingOut(35, false)
	t.Main = map[string]string{toolEnterPlan: "reason"}
	return t
}()

// Undrawn is the folder that a command runs in, that it continues in the background, and what runs in place of a shell with a text. A command's
// description isn't part of what it does. Of an edit it is the lines with characters that Gemini doesn't
// draw, or draws as nothing, and a long path. Of a server's or a found tool, and of a fetched page, it is the whole input if it has such a
// character, also in a name. Of a fetched page it is that too if the call has another field than the drawn one.
func (Driver) Undrawn(tool string, input json.RawMessage, dir string) string {
	switch {
	case tool == toolFetch:
		return undrawnOfFetch(input)
	case Driver{}.Unnamed(tool):
		return forks.UndrawnInSome(input)
	}
	lines := tooling.Undrawn(tool, input, dir)
	switch in, err := agent.ReadInput(input); {
	case err == nil && tool == toolShell:
		command := in.Words("command")
		return forks.Joined(lines, blanksOfCommand(command), runsAs(command))
	case err == nil && tooling.Changes(tool):
		return forks.Joined(lines, blanksOfChange(tool, in), undrawnOfLines(in), everyPlace(tool, in))
	}
	return lines
}

// FromDialog makes the prompt of a dialog that no other source reported.
func (d Driver) FromDialog(dialog *agent.Dialog) *agent.Request {
	r := forks.Drawn(dialog)
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

// fillQuestion adds what the dialog shows of its question.
func fillQuestion(r *agent.Request, dialog *agent.Dialog) {
	options := slices.Clone(dialog.Options)
	if own := ownRow(dialog); own >= 0 {
		options = slices.Delete(options, own, own+1)
	}
	labels := r.Options
	forks.FillQuestion(r, dialog, func() int { return current(r, dialog) }, questionShown(dialog), options)
	q, fromFirst := r.Options, len(dialog.Options) > 0 && dialog.Options[0].Number == 1 // the dialog shows three of them at a time
	if len(q) == 0 || fromFirst && (!reported(r) || !multiple(r) && len(dialog.Options) >= len(q)) {
		r.Options = labels
	}
}

// scrollsMark is the row below a list that shows three options at a time.
const scrollsMark = "▼"

// ownRow is the index of the line for text among the dialog's rows; -1 if it isn't known. It is the last one that has a number, and
// the model may name its options like it, so in a list that scrolls the last visible row may be an option.
func ownRow(d *agent.Dialog) int {
	last := len(d.Options) - 1
	for last >= 0 && d.Options[last].Number == 0 {
		last--
	}
	if last < 0 || d.Options[last].Label != hintOwn || slices.ContainsFunc(d.Lines, func(row string) bool { return strings.TrimSpace(row) == scrollsMark }) {
		return -1
	}
	return last
}

// multiple reports whether the shown question takes several options.
func multiple(r *agent.Request) bool {
	return r.QuestionCurrent < len(r.Questions) && r.Questions[r.QuestionCurrent].MultiSelect
}

// current is the index of the shown question.
func current(r *agent.Request, dialog *agent.Dialog) int {
	return forks.Current(r, dialog, questionShown(dialog), plainText)
}
