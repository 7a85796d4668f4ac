package claude

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"berth/agent"
	"berth/terminal"
)

// 2.1.197 counts no columns for a tab, and doesn't draw what is beyond a row's end. So a dialog may show less than
// its call, and look like the dialog of another call.

// leastCols is the narrowest screen whose dialogs take keys. A line hides most there.
const leastCols = 40

// quiet are tools that only plan, or start what asks by itself. What their dialogs leave out changes nothing.
var quiet = map[string]bool{
	"TodoWrite": true, "Agent": true, "Task": true, "TaskCreate": true, "TaskUpdate": true,
	"TaskGet": true, "TaskList": true, "TaskOutput": true, "BashOutput": true, "ToolSearch": true,
}

// openCalls leaves out the tools that start subagents, because the log of the main agent doesn't have what those ask.
var openCalls = agent.OpenCalls{Quiet: without(quiet, "Agent", "Task"), Results: []string{"log:tool_result"}, LogsAll: true, Starts: []string{"Agent", "Task"}}

func without(all map[string]bool, some ...string) map[string]bool {
	rest := maps.Clone(all)
	for _, one := range some {
		delete(rest, one)
	}
	return rest
}

func (Driver) OpenCalls() agent.OpenCalls { return openCalls }

// reads are tools that only read. A path matters whose end may have no room, and no other field does.
var reads = map[string]bool{"Read": true, "Grep": true, "Glob": true, "LS": true}

// shortLines and shortBytes bound the lines of a file's text in a shortened call.
const (
	shortLines = 4
	shortBytes = 240
)

// Shortened has a few of the lines that may have no room, which suffice for MayHide: a dialog of the call draws
// the start of each. A file's text has wide lines with tabs in many languages, and an agent that may edit files
// isn't asked, so an hour of work has thousands of such calls.
func (Driver) Shortened(tool string, input json.RawMessage) json.RawMessage {
	text := map[string]string{"Write": "content", "Edit": "new_string", "NotebookEdit": "new_source"}[tool]
	if text == "" || ownTitle[tool] && beside(input, drawnOfCall[tool]...) != "" { // a prompt's text has these fields whole
		return nil
	}
	fields, err := agent.ReadInput(input)
	wide := slices.DeleteFunc(linesOf(tool, input), func(line string) bool { return !overflow([]string{line}, leastCols) })
	if err != nil || len(wide) == 0 {
		return nil
	}
	slices.SortStableFunc(wide, func(a, b string) int { return len(plainLetters(b)) - len(plainLetters(a)) })
	slices.SortStableFunc(wide[min(len(wide), shortLines-1):], func(a, b string) int { return hiddenUpTo(b) - hiddenUpTo(a) })
	wide = wide[:min(len(wide), shortLines)]
	for i, line := range wide {
		if len(line) > shortBytes { // its end stays without room
			wide[i] = strings.ToValidUTF8(line[:shortBytes], "") + "\x01"
		}
	}
	short := map[string]string{text: strings.Join(wide, "\n")}
	for _, path := range []string{"file_path", "notebook_path"} {
		if name, err := fields.Text(path); err == nil && name != nil {
			short[path] = *name
		}
	}
	if tool == "Edit" {
		short["old_string"] = ""
	}
	out, err := json.Marshal(short)
	if err != nil {
		return nil
	}
	return out
}

// hiddenUpTo is the widest screen where a row may have no room for the line's end.
func hiddenUpTo(line string) int {
	if overflow([]string{line}, terminal.MaxCols) {
		return terminal.MaxCols
	}
	return width(line)
}

// Draws looks for one of the call's texts in a dialog whose title names no tool.
func (Driver) Draws(d *agent.Dialog, tool string, input json.RawMessage) bool {
	if d.Tool != "" || d.Cut || strings.HasPrefix(tool, "mcp__") && mayServe(d, input) {
		return true
	}
	text := d.Title + " " + d.Asked + " " + d.Question + " " + strings.Join(rowsOf(d.Rows), " ")
	letters, words := plainLetters(text), map[string]bool{}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return plainLetters(string(r)) == "" }) {
		words[word] = true
	}
	known := false // one of them has letters
	for _, line := range linesOf(tool, input) {
		begin := plainLetters(begins(line, d.Cols/2))
		known = known || begin != ""
		if words[begin] || (len(begin) >= leastDrawn || reads[tool]) && strings.Contains(letters, begin) {
			return true
		}
	}
	return !known
}

// leastDrawn is how many letters a text has that is looked for inside of words: rows may break it. The path of a
// tool that reads is looked for with fewer, because few such calls are kept.
const leastDrawn = 4

// Hides reports whether a call has fields that no dialog draws, or text that may have no room.
func (Driver) Hides(tool string, input json.RawMessage) bool {
	return !quiet[tool] && hides(tool, input)
}

func hides(tool string, input json.RawMessage) bool {
	if strings.HasPrefix(tool, "mcp__") && !drawsWhole(input) {
		return true
	}
	return !strings.HasPrefix(tool, "mcp__") && !reads[tool] && beside(input, drawnOfCall[tool]...) != "" || overflow(linesOf(tool, input), leastCols)
}

// MayHide compares what is certainly drawn of a call: the start of each line. Only letters and digits count,
// because other characters may be drawn otherwise.
func (Driver) MayHide(d *agent.Dialog, tool string, input json.RawMessage) bool {
	if d.Tool != "" && d.Tool != tool {
		return false
	}
	lines := linesOf(tool, input)
	if !overflow(lines, d.Cols) {
		return false
	}
	if d.Type != agent.PromptPermission || !ownTitle[tool] {
		return true
	}
	if in, ok := readInput(tool, input); ok && tool == "Write" && d.Title != titles[tool] { // it draws what changes in the file
		return strings.Contains(plainLetters(d.Title+" "+d.Question+" "+strings.Join(rowsOf(d.Rows), " ")), plainLetters(path.Base(in.Path)))
	}
	return begun(d, lines)
}

// begun reports whether the dialog has the start of each of the lines.
func begun(d *agent.Dialog, lines []string) bool {
	var drawn strings.Builder
	for _, row := range d.Rows {
		drawn.WriteString(plainLetters(row.Text))
	}
	shown := drawn.String()
	return !slices.ContainsFunc(lines, func(line string) bool { return !strings.Contains(shown, plainLetters(begins(line, d.Cols/2))) })
}

// ReportsDialog: the dialogs of tools have the hook PermissionRequest, and forms the hook Elicitation. The dialogs of auto mode,
// whose options have no numbers, have none.
func (Driver) ReportsDialog(d *agent.Dialog) bool {
	if d.Type == agent.PromptForm {
		return true
	}
	asks := d.Type == agent.PromptPermission || d.Type == agent.PromptPlan || d.Type == agent.PromptQuestion
	return asks && d.Subtype == "" && slices.ContainsFunc(d.Options, func(o agent.Option) bool { return o.Number > 0 })
}

// linesOf are the lines of a call that its dialog draws: what a file's edit changes, and of other tools all texts.
func linesOf(tool string, input json.RawMessage) []string {
	in, ok := readInput(tool, input)
	switch {
	case !ok:
	case tool == "Bash":
		return strings.Split(in.Command, "\n")
	case tool == "Write" && in.Content != nil:
		return strings.Split(*in.Content, "\n")
	case tool == "Edit" && in.Old != nil && in.New != nil:
		before, after := strings.Split(*in.Old, "\n"), strings.Split(*in.New, "\n")
		unlike := func(those []string) func(string) bool {
			return func(line string) bool { return slices.Contains(those, line) }
		}
		return append(slices.DeleteFunc(slices.Clone(before), unlike(after)), slices.DeleteFunc(after, unlike(before))...)
	}
	var v any
	if json.Unmarshal(input, &v) != nil {
		return nil
	}
	return leaves(v)
}

// leaves are the lines of all texts in a JSON value.
func leaves(v any) (lines []string) {
	switch v := v.(type) {
	case string:
		return strings.Split(v, "\n")
	case []any:
		for _, one := range v {
			lines = append(lines, leaves(one)...)
		}
	case map[string]any:
		for _, one := range v {
			lines = append(lines, leaves(one)...)
		}
	}
	return lines
}

// overflow reports whether a row may have no room for the end of one of the lines: it has tabs, or characters
// whose width Claude may count otherwise.
func overflow(lines []string, cols int) bool {
	return slices.ContainsFunc(lines, func(line string) bool {
		odd := strings.ContainsFunc(line, func(r rune) bool { return r != '\t' && (unicode.IsControl(r) || terminal.RuneWidth(r) == 0) })
		return odd || strings.Contains(line, "\t") && width(line) > cols-besideIndented-besideInput
	})
}

// tabbed is the most columns of a tab.
const tabbed = "        "

func width(line string) int { return terminal.StringWidth(strings.ReplaceAll(line, "\t", tabbed)) }

// begins is the start of a line, up to a control character other than a tab, and to that many columns.
func begins(line string, cols int) string {
	room := cols
	for i, r := range line {
		switch {
		case r == '\t':
			room -= len(tabbed)
		case unicode.IsControl(r):
			return line[:i]
		default:
			room -= terminal.RuneWidth(r)
		}
		if room < 0 {
			return line[:i]
		}
	}
	return line
}

// plainLetters are the letters and digits of ASCII in a text.
func plainLetters(text string) string {
	return strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return -1
	}, text)
}
