package codex

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"berth/agent"
	"berth/agent/drawn"
	"berth/agent/pattern"
	"berth/terminal"
)

// dialog reads the dialog at the bottom of a screen without a composer. It is nil if there is none,
// or too little of one.
func (s *screen) dialog() *agent.Dialog {
	if d := s.textForm(); d != nil {
		return d
	}
	options, rows, end, unsure := s.options()
	b := block{dialog: &agent.Dialog{Options: options, Cols: s.view.Cols, Height: s.view.Rows}, screen: s, rows: rows, first: s.last + 1, end: end}
	if len(rows) > 0 {
		b.first = rows[0]
	}
	b.foot = flat(s.view.Text(end+1, s.last))
	for _, read := range []func() bool{b.form, b.question, b.plan, b.permission, b.setup, b.notice} {
		if read() {
			b.dialog.Partial = b.dialog.Partial || unsure
			b.dialog.Cut = b.dialog.Cut || b.elided()
			if t := b.dialog.Type; t == agent.PromptPermission && b.dialog.Subtype == "" || t == agent.PromptQuestion {
				b.dialog.Cut = b.dialog.Cut || s.wraps(max(b.top, 0)+1, s.last+1)
			}
			for i := max(b.top, 0); i <= s.last; i++ {
				if b.secret && strings.HasPrefix(s.text(i), "│") {
					continue
				}
				b.dialog.Lines = append(b.dialog.Lines, strings.TrimRight(s.text(i), " "))
			}
			return b.dialog
		}
	}
	return nil
}

// block is the part of the screen where a dialog may be.
type block struct {
	dialog     *agent.Dialog
	screen     *screen
	top        int    // row of its first line, once found
	rows       []int  // rows of the options
	first, end int    // rows of the first and the last option; first > last without options
	foot       string // the text below the options, on one line
	secret     bool   // the text in its field is a secret
}

// elided reports whether the row above the options is the one that Codex draws in place of rows
// without room: the last rows of a command, of a reason, or of a list of files.
func (b *block) elided() bool {
	return b.first > 0 && b.first <= b.screen.last && elision.MatchString(b.screen.inset(b.first-1, b.first-1))
}

// elision matches the start of "[… 46 lines] ^a view all". A narrow screen cuts its end off.
var elision = pattern.New(`^\[…`)

// inset returns the rows without the indent that all rows of a dialog share. Further blanks
// belong to the command.
func (s *screen) inset(from, to int) string {
	var lines []string
	for i := max(from, 0); i <= to; i++ {
		lines = append(lines, strings.TrimRight(strings.TrimPrefix(s.text(i), "  "), " "))
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// above is the nearest row above the options that matches the pattern; ok is false without one.
func (b *block) above(pattern *pattern.Pattern) (row int, ok bool) {
	return b.aboveRow(pattern, b.first)
}

// aboveRow is the nearest row above the row below that matches the pattern.
func (b *block) aboveRow(pattern *pattern.Pattern, below int) (row int, ok bool) {
	for i := min(below-1, b.screen.last); i >= 0; i-- {
		if pattern.MatchString(b.screen.text(i)) {
			return i, true
		}
	}
	return 0, false
}

var optionLine = pattern.New(`^( *)([›>] )?( *)(\d{1,2})\. (.*)$`)

// description matches the start of what is drawn to the right of an option's label.
var description = pattern.New(` {2,}\S.*$`)

// options reads the last list of numbered lines that counts up from 1. Its numbers are in one
// column, that of the option with the mark: a label can continue in a row that looks like an
// option, but such a row is indented further. rows are the options' rows. unsure means that a
// number is there twice.
func (s *screen) options() (list []agent.Option, rows []int, end int, unsure bool) {
	want := 0
	column := s.numbers()
	for i := s.last; i >= 0; i-- {
		m := optionLine.FindStringSubmatch(s.text(i))
		if m == nil || column >= 0 && numberColumn(m) != column {
			continue
		}
		column = numberColumn(m)
		explained := description.FindString(m[5])
		o := agent.Option{
			Number: pattern.Number(m[4]), Focused: m[2] != "", Label: strings.TrimSpace(strings.TrimSuffix(m[5], explained)), More: strings.TrimSpace(explained),
		}
		if want != 0 && o.Number != want {
			unsure = true
			continue
		}
		list, rows, want = append([]agent.Option{o}, list...), append([]int{i}, rows...), o.Number-1
		if want == 0 {
			return list, rows, s.goOn(list, rows), unsure
		}
	}
	return nil, nil, s.last, false
}

// numbers is the column of the options' numbers: the leftmost one after a mark, because a text that
// shows a mark is indented further. Rows above a question's head, or above a row of the agent,
// aren't options. It is -1 without a mark.
func (s *screen) numbers() int {
	column := -1
	for i := s.last; i >= 0 && !strings.HasPrefix(s.text(i), "• ") && !questionHead.MatchString(s.text(i)); i-- {
		if m := optionLine.FindStringSubmatch(s.text(i)); m != nil && m[2] != "" && (column < 0 || numberColumn(m) < column) {
			column = numberColumn(m)
		}
	}
	return column
}

// numberColumn is the column of the number in a match of optionLine.
func numberColumn(m []string) int { return len(m[1]) + utf8.RuneCountInString(m[2]) + len(m[3]) }

// goOn appends to each description the rows below the option. Such rows are indented as far as
// the label. It returns the list's last row.
func (s *screen) goOn(list []agent.Option, rows []int) (end int) {
	end = rows[len(rows)-1]
	for k, row := range rows {
		for i := row + 1; i <= s.last && strings.HasPrefix(s.text(i), "     ") && (k+1 == len(rows) || i < rows[k+1]); i++ {
			list[k].More = strings.TrimSpace(list[k].More + "\n" + strings.TrimSpace(s.text(i)))
			end = max(end, i)
		}
	}
	return end
}

// split divides the options' rows into labels and descriptions at a column. Blanks within a label
// don't divide it. Without a column (-1) the rows are labels.
func (b *block) split(column int) {
	for k, row := range b.rows {
		end := b.end + 1
		if k+1 < len(b.rows) {
			end = b.rows[k+1]
		}
		o := &b.dialog.Options[k]
		o.Label, o.More = "", ""
		for i := row; i < end; i++ {
			label, more := cutAt(b.screen.text(i), column)
			if m := optionLine.FindStringSubmatch(label); m != nil && i == row {
				label = m[5]
			}
			gap := " "
			if column < 0 && i > row {
				gap = b.gap(b.screen.text(i-1), label)
			}
			o.Label = strings.TrimSpace(o.Label + gap + strings.TrimSpace(label))
			o.More = strings.TrimSpace(o.More + "\n" + more)
		}
	}
}

// unbroken matches characters that Codex never breaks a text between, unless a row is full.
var unbroken = pattern.New("^[A-Za-z0-9.,:;_=&#@~*<>^'\"`]$")

// gap is the text between two rows of an option: a blank, or a line break if the rows don't show
// whether there is a blank.
func (b *block) gap(row, next string) string {
	row, next = strings.TrimRight(row, " "), strings.TrimSpace(next)
	if row == "" || next == "" || terminal.StringWidth(row) >= b.screen.view.Cols-1 || !unbroken.MatchString(row[len(row)-1:]) || !unbroken.MatchString(next[:1]) {
		return "\n"
	}
	return " "
}

// cutAt cuts a row at a column; -1 cuts nothing.
func cutAt(row string, column int) (left, right string) {
	if column < 0 {
		return row, ""
	}
	at, columns := 0, 0
	for rest := row; rest != "" && columns < column; {
		cluster, next, width := terminal.NextCluster(rest)
		at, columns, rest = at+len(cluster), columns+width, next
	}
	return row[:at], strings.TrimSpace(row[at:])
}

// described is the column of the descriptions, which the option that Codex adds shows; -1 without
// one.
func (b *block) described() int {
	last := len(b.rows) - 1
	if last < 0 || b.dialog.Options[last].Label != optionOther || b.dialog.Options[last].More == "" {
		return -1
	}
	row := b.screen.text(b.rows[last])
	before, after, _ := strings.Cut(row, optionOther)
	return terminal.StringWidth(before+optionOther) + len(after) - len(strings.TrimLeft(after, " "))
}

var questionHead = pattern.New(`^  Question (\d+)/(\d+)\b`)

// questionTitle is the first line of a question's dialog.
func questionTitle(n, of int) string { return fmt.Sprintf("Question %d/%d", n, of) }

// question reads a question's dialog: its head has the question's number, its foot says how to
// answer.
func (b *block) question() bool {
	d := b.dialog
	row, ok := b.above(questionHead)
	for ok && !b.screen.view.Lines[row].Dim(len("  ")) { // the question's own text is never dim
		row, ok = b.aboveRow(questionHead, row)
	}
	if ok && len(d.Options) == 0 { // the first ones may have no room
		b.foot = flat(b.screen.view.Text(row+1, b.screen.last))
		for b.first = row + 1; b.first <= b.screen.last && !optionLine.MatchString(b.screen.text(b.first)); {
			b.first++
		}
	}
	d.Cut = notAll.MatchString(b.foot)
	if !ok || len(d.Options) == 0 && !d.Cut || strings.Contains(b.foot, "esc to cancel") || strings.Contains(b.foot, "enter select") { // such a foot is below a command or a plan
		return false
	}
	if column := b.described(); column > 0 {
		b.split(column)
	}
	m := questionHead.FindStringSubmatch(b.screen.text(row))
	n, of := pattern.Number(m[1]), min(pattern.Number(m[2]), maxQuestions)
	if n < 1 || n > of {
		return false
	}
	b.top = row
	d.Type, d.Tool, d.Title = agent.PromptQuestion, toolQuestion, questionTitle(pattern.Number(m[1]), pattern.Number(m[2]))
	d.Body = b.screen.view.Text(row+1, b.first-1)
	for i := range of {
		d.Tabs = append(d.Tabs, strconv.Itoa(i+1))
	}
	d.Current = n - 1
	d.Key = string(d.Type) + " " + strconv.Itoa(of)
	if of == 1 { // several questions are one prompt with a page for each
		d.Key += " " + drawn.Squeeze(d.Body)
	}
	d.Partial = !strings.Contains(b.foot, "enter to submit")
	return true
}

// notAll matches the start of the line below a list that isn't drawn whole.
var notAll = pattern.New(`\boption \d+/\d+ \|`)

// maxQuestions bounds the number of questions that a screen may show.
const maxQuestions = 20

// notes is the text of the field that Tab opens under a question, and whether the field is open.
func notes(d *agent.Dialog) (text string, open bool) {
	for i := len(d.Lines) - 1; i >= 0; i-- {
		if rest, ok := strings.CutPrefix(d.Lines[i], "  "+mark+" "); ok && optionLine.FindStringSubmatch(d.Lines[i]) == nil {
			for _, row := range d.Lines[i+1:] {
				if strings.HasPrefix(row, notesFoot) {
					break
				}
				rest += "\n" + row
			}
			return rest, true
		}
	}
	return "", false
}

// notesFoot is the start of the row below the notes.
const notesFoot = "  tab or esc to clear notes"

var planAsked = pattern.New(`^  Implement this plan\?`)

// plan reads the dialog after the turn that made a plan. The plan's text is in the conversation
// above.
func (b *block) plan() bool {
	d := b.dialog
	row, ok := b.above(planAsked)
	if !ok || len(d.Options) == 0 || !strings.HasPrefix(d.Options[0].Label, "Yes, implement") {
		return false
	}
	b.top = row
	d.Type, d.Title, d.AfterTurn = agent.PromptPlan, "Implement this plan?", true
	d.Partial = len(d.Options) < 2 || !strings.Contains(b.foot, "enter select")
	d.Body, d.Cut = b.proposed(row)
	return true
}

// planHead is the line above a plan in the conversation.
const planHead = "• Proposed Plan"

// begins says whether Codex drew a row that begins so. A text that is wider than Codex took it for
// goes on in the first column of the next row, and could draw one there.
func (s *screen) begins(row int, with string) bool {
	return strings.HasPrefix(s.text(row), with) && !s.view.Lines[row].Wrapped
}

// wraps says whether the terminal broke one of the rows from one on and before another. What the rest
// of that row covers in the next one can't be seen.
func (s *screen) wraps(from, to int) bool {
	return slices.ContainsFunc(s.view.Lines[from:to], func(r agent.Row) bool { return r.Wrapped })
}

// proposed returns the part of the plan that is on the screen: all text proposed since the
// last message was sent. cut says that its start is not on the screen, or that
// the terminal broke a row of it.
func (b *block) proposed(row int) (plan string, cut bool) {
	s := b.screen
	top, first, last := row, -1, -1
	for ; top > 0 && !s.begins(top-1, mark+" "); top-- {
		if s.begins(top-1, planHead) {
			first, last = top-1, max(last, top-1)
		}
	}
	if cut = first < 0; !cut {
		top = first + 1
		cut = s.wraps(top, row)
	}
	var lines []string
	for i := top; i < row; i++ {
		text, ok := strings.CutPrefix(s.text(i), "  ")
		if !ok && text != "" && !cut && i > last {
			break
		}
		lines = append(lines, text)
	}
	return strings.TrimSpace(strings.Join(lines, "\n")), cut
}

var (
	asksWhether = pattern.New(`^  (?:(Would you like to|Do you want to|Allow) .*|.+ needs your approval\.)$`)
	isYes       = pattern.New(`^(Yes|Allow|Approve)\b`)
	isNo        = pattern.New(`^(No|Cancel|Decline|Deny)\b`)
)

// toolOf is the tool for each head of a permission's dialog.
var toolOf = map[string]string{
	"Would you like to run the following command?": toolCommand,
	"Would you like to make the following edits?":  toolPatch,
}

// permission reads a permission's dialog: its first option starts with yes, its foot says how to
// deny. A long command may have pushed its head off the screen.
func (b *block) permission() bool {
	d := b.dialog
	if len(d.Options) < 2 || !isYes.MatchString(d.Options[0].Label) {
		return false
	}
	row, headed := b.head()
	confirm := strings.Contains(b.foot, "esc to cancel")
	if !headed && !confirm {
		return false
	}
	d.Type = agent.PromptPermission
	b.split(-1) // the options have no descriptions
	b.short(confirm)
	if headed {
		b.top = row
		last := b.asked(row)
		d.Title, d.Body = flat(b.screen.view.Text(row, last)), b.screen.inset(last+1, b.first-1)
		row = last
		d.Tool = toolOf[d.Title]
	} else {
		d.Body, d.Cut = b.screen.inset(0, b.first-1), true
	}
	if headed {
		for i := row + 1; i < b.first; i++ {
			d.Rows = append(d.Rows, agent.Drawn(b.screen.view.Lines[i]))
		}
		d.Sections = b.unsized(row)
	}
	d.Alike = true // it shows only an edit's files, and not a command's folder
	d.Partial = !confirm
	return true
}

// refusal is the last option of most permissions.
const refusal = "No, and tell Codex what to do differently (esc)"

// short reads the end of a permission's list. A list without a refusal at its end has no room for
// all of its options, because Codex draws the foot below the list. The last row of a cut list may be
// only a part of its option.
func (b *block) short(foot bool) {
	d := b.dialog
	last := len(d.Options) - 1
	switch o := &d.Options[last]; {
	case strings.HasPrefix(refusal, o.Label):
		o.Label = refusal
	case foot && !isNo.MatchString(o.Label):
		d.Short, d.Options = true, d.Options[:last]
	}
}

// unsized are the rows of a permission below its question, with the reason on one line: the reason
// is prose, and is wrapped differently at another size.
func (b *block) unsized(row int) []string {
	var rows []string
	reason, command := false, false
	end := b.first
	if b.elided() {
		end--
	}
	for i := row + 1; i < end; i++ {
		text := b.screen.text(i)
		command = command || strings.HasPrefix(text, "  $ ")
		if reason = reason && text != "" && !command; reason {
			rows[len(rows)-1] += " " + strings.TrimSpace(text)
			continue
		}
		reason = strings.HasPrefix(text, "  Reason: ") && !command
		rows = append(rows, text)
	}
	return []string{strings.Join(rows, "\n")}
}

// head finds the row that starts the question of a permission's dialog. Codex draws that row
// bold and without a color. Position alone isn't enough: a command's lines have the same
// indent, and a model can write the same words there.
func (b *block) head() (row int, ok bool) {
	for i := min(b.first-1, b.screen.last); i >= 0; i-- {
		line := b.screen.view.Lines[i]
		if color, one := line.OneColor(0); asksWhether.MatchString(line.Text) && line.Bold() && one && color == 0 {
			return i, true
		}
	}
	return 0, false
}

// asked is the last row of the question that starts on that row. A long question continues in the
// next rows.
func (b *block) asked(row int) int {
	for i := row; i < b.first && !b.screen.blank(i); i++ {
		if strings.HasSuffix(b.screen.text(i), "?") {
			return i
		}
	}
	return row
}

// flat replaces each stretch of blanks and line ends with one blank.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }

var leave = pattern.New(`(?i)\besc (to )?(cancel|exit|close|go back|back|dismiss|skip)\b|\benter (to )?(confirm|continue|select|open)\b`)

// notice reads any other dialog: the screen has no caret, and the foot says how to leave it.
func (b *block) notice() bool {
	s := b.screen
	words := s.last // the row that its last text starts on
	for words > 0 && !s.blank(words-1) {
		words--
	}
	if s.view.Cursor.Visible || !leave.MatchString(flat(s.view.Text(words, s.last))) {
		return false
	}
	top := min(b.first, s.last)
	for top > 0 && !s.blank(top-1) {
		top--
	}
	for top > 1 && s.blank(top-1) && !s.blank(top-2) && strings.HasPrefix(s.text(top-2), "  ") { // its head, above a blank row
		for top -= 2; top > 0 && !s.blank(top-1); top-- {
		}
	}
	b.top = top
	d := b.dialog
	d.Type = agent.PromptNotice
	d.Title = strings.TrimSpace(s.text(top))
	d.Body = s.view.Text(top+1, min(b.first, s.last)-1)
	return true
}
