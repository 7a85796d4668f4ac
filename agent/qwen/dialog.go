package qwen

import (
	"slices"
	"strings"

	"berth/agent"
	"berth/agent/drawn"
	"berth/agent/forks"
	"berth/agent/pattern"
	"berth/terminal"
)

// waits is the row below a dialog, after the spinner.
const waits = "Waiting for user confirmation"

// Questions of dialogs.
const (
	askEdit = "Apply this change?"
	askPlan = "Would you like to proceed?"
	askMore = "Do you want to proceed?" // of a tool that fetches
	askSend = "Ready to submit your answers?"
)

// Options that have a meaning in answers.
const (
	optionOnce   = "Yes, allow once"
	optionNo     = "No, suggest changes (esc)"
	optionKeep   = "No, keep planning (esc)"
	optionManual = "Yes, and manually approve edits"
	hintOwn      = "Type something..."
)

var (
	optionRow = pattern.New(`^ {3}([›❯] | {2})(?:\[(.)\] )?(\d{1,2})\. (\S.*)?$`)
	toolRow   = pattern.New(`^  [?] (\S+)(?: (.*))?$`)
	execution = pattern.New(`^Allow execution of: '`)
	hidden    = pattern.New(`^\.\.\. (?:(?:first|last) \d+ lines? hidden|diff hidden|[^ ]* ?…)`)
	fallback  = pattern.New(`^⚠ Auto Mode `)
)

// tools are those with measured dialogs, by the name in the dialog.
var tools = map[string]string{"Shell": toolShell, "WriteFile": toolWrite, "Edit": toolEdit, "AskUserQuestion": toolAsk, "ExitPlanMode": toolPlan}

// Indents of a dialog's text: a command, and anything else.
const (
	commandIndent = 5
	bodyIndent    = 3
	toolIndent    = 4 // of the rows that continue the one of the tool
)

// mainAgent is the first row of the list of agents.
const mainAgent = "    main"

// moreRows is the row below a dialog with rows that have no room.
const moreRows = "Press ctrl-s to show more lines"

// dialog reads the dialog at the bottom of a screen without a composer. It is nil if there is none, or
// if it isn't drawn completely.
func (s *screen) dialog() *agent.Dialog {
	end := s.aboveAgents()
	if text := strings.TrimPrefix(s.rows[end], "  "); len(text) == len(s.rows[end]) || !forks.Spins(text) || !strings.Contains(text, waits) {
		return nil
	}
	b := &box{screen: s, dialog: &agent.Dialog{Cols: s.view.Cols, Height: s.view.Rows}}
	b.find(end - 1)
	asker := drawn.Up(s.rows, end-1, ofSubagent.MatchString)
	if asker >= b.end && b.end > 0 || asker >= 0 && len(b.dialog.Options) == 0 { // below any other dialog, which the conversation has drawn
		return s.subagent(asker, end)
	}
	if len(b.dialog.Options) < 2 || !b.question() && !b.plan() && !b.permission() {
		return nil
	}
	return b.dialog
}

// aboveAgents is the last row above the list of agents that run in the background. That list begins with the main one, after a
// blank row.
func (s *screen) aboveAgents() int {
	i := s.last
	for i > 0 && strings.HasPrefix(s.rows[i], "    ") {
		i--
	}
	if i >= s.last-1 || s.rows[i] != "" || s.rows[i+1] != mainAgent {
		return s.last
	}
	return max(s.view.LastUpTo(i), 0)
}

// box is a dialog that is being read. Its rows are those from the one of its tool, or from the first one
// of the screen.
type box struct {
	*screen
	dialog      *agent.Dialog
	head        int // the row of the tool; -1 if it has left the screen
	first, last int // rows of the options
	end         int // the row after the dialog
}

// find finds the options above the row, and the row of the tool above them. Below a dialog there can be rows of
// calls that Qwen Code asks about next. They can have any text from the fifth column on, so the lowest mark in
// the fourth one is the dialog's.
func (b *box) find(at int) {
	marked := drawn.Up(b.rows, at, func(row string) bool { list := options(row); return len(list) > 0 && list[0].Focused })
	for b.end = marked + 1; b.end <= at && !rowOfTool(b.rows[b.end]); b.end++ {
	}
	list := drawn.Numbered(b.rows[:b.end], options, rowOfTool)
	if !list.Whole() || list.Focused() != 1 {
		return
	}
	list.Explain(b.rows[:b.end], drawn.Blank, func(_, _, row string) bool {
		return drawn.Indent(row) <= bodyIndent // below the mark; a description is indented further than the number
	})
	b.dialog.Options, b.first, b.last = list.Options, list.At[0], list.At[len(list.At)-1]
	b.end = b.view.LastUpTo(b.end-1) + 1
	b.head = drawn.Up(b.rows, b.first-1, toolRow.MatchString)
	for i := max(b.head, 0); i < b.end; i++ {
		// The terminal wrapped a row: the screen has another size and isn't drawn again yet, or Qwen Code
		// counts fewer columns for some characters than terminals do, and such a text continues in the first
		// column, where it can draw anything.
		b.dialog.Partial = b.dialog.Partial || b.view.Lines[i].Wrapped
		b.dialog.Cut = b.dialog.Cut || b.dialog.Partial || hidden.MatchString(strings.TrimSpace(b.rows[i])) || b.rows[i] == moreRows
		b.dialog.Lines = append(b.dialog.Lines, strings.TrimPrefix(b.rows[i], "  "))
	}
	b.dialog.Cut = b.dialog.Cut || b.head < 0 && b.text(b.first, false) == 0
	if b.head >= 0 {
		b.dialog.Tool = tools[toolRow.FindStringSubmatch(b.rows[b.head])[1]]
	}
}

// options is the option of a row.
func options(row string) []agent.Option {
	m := optionRow.FindStringSubmatch(row)
	if m == nil {
		return nil
	}
	return []agent.Option{{
		Number: pattern.Number(m[3]), Focused: m[1][0] != ' ', Multiple: m[2] != "", Ticked: m[2] != "" && m[2] != " ", Label: strings.TrimSpace(m[4]),
	}}
}

// rowOfTool reports whether the row starts where those of tools do.
func rowOfTool(row string) bool {
	return strings.HasPrefix(row, "  ") && len(row) > 2 && row[2] != ' '
}

// text is the first row below those of the tool, which end with a blank row. Those of a command may have
// blank rows too, and lines that are indented further: below the last row of their indent, which no row of the command
// has, the next blank row ends them. It is 0 if they have left the screen.
func (b *box) text(end int, command bool) int {
	from := b.head + 1
	for i := from; command && i < end; i++ {
		if b.rows[i] != "" && drawn.Indent(b.rows[i]) == toolIndent {
			from = i + 1
		}
	}
	if from == 0 && (command || b.rows[0] == "" || drawn.Indent(b.rows[0]) != toolIndent) {
		return 0
	}
	for ; from < end && b.rows[from] != ""; from++ {
	}
	return from
}

// body are the rows of the dialog's text before a row, without their indent and without blank rows around
// them. ok is false if a row is indented less.
func (b *box) body(left, to int) (rows []agent.DrawnRow, ok bool) {
	ok = true
	for i := b.text(to, left == commandIndent); i < to; i++ {
		row := agent.Drawn(b.view.Lines[i])
		text := strings.TrimPrefix(row.Text, strings.Repeat(" ", left))
		ok = ok && (row.Text == "" || len(text)+left == len(row.Text))
		row.Text = text
		rows = append(rows, row)
	}
	return drawn.Inside(rows, textOf), ok
}

func textOf(row agent.DrawnRow) string { return row.Text }

func joined(rows []agent.DrawnRow) string { return strings.Join(drawn.Lines(rows), "\n") }

// asks is the row of the question above the options, and the row after the text above it.
func (b *box) asks() (question string, end int) {
	i := b.view.LastUpTo(b.first - 1)
	if i < 0 || i <= b.head {
		return "", b.first
	}
	return strings.TrimSpace(b.rows[i]), i
}

// permission reads a permission's dialog: its first option allows, its last one denies. Above them is
// what the tool would do.
func (b *box) permission() bool {
	d := b.dialog
	question, end := b.asks()
	if !strings.HasPrefix(optionOnce, strings.TrimSuffix(d.Options[0].Label, "…")) || !strings.HasPrefix(d.Options[len(d.Options)-1].Label, "No") || question == "" {
		return false
	}
	d.Question = question
	left := bodyIndent
	switch {
	case execution.MatchString(question): // other tools ask so too: without its tool's row the dialog may be theirs
		left = commandIndent
		if d.Cut = d.Cut || b.head < 0; b.head < 0 {
			d.Tool = toolShell
		} else if d.Tool != toolShell {
			d.Tool = ""
		}
	case question != askEdit: // a server can name its tool as it likes
		d.Tool = ""
	case d.Tool == "":
		d.Tool = toolEdit
	}
	rows, ok := b.body(left, end)
	d.Cut = d.Cut || !ok
	// The classifier's warning is above the text, in a color of its own.
	blank := func(row agent.DrawnRow) bool { return row.Text == "" }
	if n := slices.IndexFunc(rows, blank); n > 0 && n+1 < len(rows) && fallback.MatchString(rows[0].Text) && rows[0].OneColor && rows[0].Color != rows[n+1].Color {
		d.Asked, rows = joined(rows[:n]), rows[n+1:]
	}
	d.Rows, d.Body = rows, joined(rows)
	command := d.Tool == toolShell && question != askEdit // one of sed may be drawn as an edit: see matchSed
	d.Alike = !command
	d.Cut = d.Cut || command && b.drops(end) || !command && b.head < 0 // only the tool's rows name a file
	d.Type, d.Title, d.Sections = agent.PromptPermission, question, []string{d.Body, d.Asked, headOf(d)}
	if command {
		d.Title = "Shell"
	}
	return true
}

// drops reports whether the rows of a command may lack something. Qwen Code breaks a command's lines for more
// columns than it has, breaks each row again, and draws only the first row of that; the last one is whole. The
// rows of the tool have all of the command, and then its description.
func (b *box) drops(end int) bool {
	d := b.dialog
	if len(d.Rows) == 1 { // what else its tool's row has is in the prompt: see headOf
		return terminal.StringWidth(d.Rows[0].Text) > d.Cols-besideCommand
	}
	if b.head < 0 {
		return true
	}
	shown := drawn.Squeeze(strings.Replace(strings.Join(b.rows[b.head:b.text(end, true)], "\n"), "←", "", 1))
	rest, ok := strings.CutPrefix(shown, drawn.Squeeze("? Shell "+d.Body))
	return !ok || rest != "" && !strings.HasPrefix(rest, "(")
}

// plan reads a plan's dialog, which has the plan's text.
func (b *box) plan() bool {
	d := b.dialog
	question, end := b.asks()
	if question != askPlan || d.Options[len(d.Options)-1].Label != optionKeep {
		return false
	}
	rows, ok := b.body(bodyIndent, end)
	d.Cut = d.Cut || !ok
	d.Rows, d.Body, d.Tool = rows, joined(rows), toolPlan
	d.Type, d.Title = agent.PromptPlan, askPlan
	return true
}

// foot matches the row of keys below a question.
var foot = pattern.New(`^↑/↓: Navigate \|`)

// question reads the dialog of one question or of several, with its page for each and the page that
// shows the answers.
func (b *box) question() bool {
	d := b.dialog
	isFoot := func(row string) bool { return foot.MatchString(strings.TrimSpace(row)) }
	if !slices.ContainsFunc(b.rows[b.last+1:max(b.end, b.last+1)], isFoot) {
		return false
	}
	from := b.text(b.first, false)
	for from < b.first && b.rows[from] == "" {
		from++
	}
	if from >= b.first {
		return false
	}
	d.Tool = toolAsk
	if strings.Contains(b.rows[from], "▸ ") {
		d.Tabs, d.Current = forks.Tabs(b.rows[from])
	} else {
		d.Title = strings.TrimSpace(b.rows[from])
	}
	from++
	question, end := b.asks()
	d.Confirm = question == askSend && len(d.Tabs) > 0 && d.Current == len(d.Tabs)
	if !d.Confirm {
		end = b.first
	}
	d.Body = b.view.Text(from, end-1)
	if len(d.Tabs) == 0 {
		d.Key = string(agent.PromptQuestion) + " " + d.Title + "\n" + d.Body
	}
	for i := range d.Options {
		d.Options[i].Label = strings.TrimSuffix(d.Options[i].Label, " ✓")
	}
	if own := &d.Options[len(d.Options)-1]; own.Focused && !d.Confirm { // the line is open, after a mark
		if d.Input = strings.TrimPrefix(own.Label, "> "); d.Input == hintOwn {
			d.Input = ""
		}
		own.Label = hintOwn
	}
	d.Type = agent.PromptQuestion
	return true
}

// besideCommand is how many columns are beside a command's rows, and layoutBeside how many Qwen Code reckons
// with when it breaks them.
const (
	besideCommand = 10
	layoutBeside  = 6
)
