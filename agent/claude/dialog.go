package claude

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"berth/agent"
	"berth/agent/drawn"
	"berth/agent/pattern"
	"berth/terminal"
)

// dialog reads the dialog at the bottom of a screen without a composer. It is nil if there is none,
// or too little of one.
func (s *screen) dialog() *agent.Dialog {
	options, first, end, unsure := s.options()
	if answers, from, to := s.answers(); answers != nil && (options == nil || from > end) {
		options, first, end = answers, from, to
	}
	if s.coversOptions(end) {
		options, first, end, unsure = nil, s.last+1, s.last, false
	}
	top := s.top(first)
	d := &agent.Dialog{Options: options, Cols: s.view.Cols, Height: s.view.Rows}
	for i := max(top, 0); i <= s.last; i++ {
		d.Lines = append(d.Lines, strings.TrimRight(s.text(i), " "))
	}
	b := bottomBlock{
		dialog: d, top: top, first: first, end: end, screen: s,
		all: flat(s.view.Text(max(top, 0), s.last)), foot: s.view.Text(end+1, s.last),
	}
	for _, read := range []func() bool{b.setup, b.autoMode, b.plan, b.question, b.form, b.permission, b.notice} {
		if read() {
			d.Partial = d.Partial || unsure
			d.Cut = d.Cut || d.Subtype == "" && s.wraps(top)
			return d
		}
	}
	return nil
}

// coversOptions reports whether another dialog begins below the options: there is a rule that isn't the one that a
// question draws above its last option.
func (s *screen) coversOptions(end int) bool {
	rule := s.top(s.last)
	if rule <= end {
		return false
	}
	last, _ := head(s.view.Text(rule+1, s.last))
	return strings.TrimPrefix(last, "❯ ") != optionChat
}

// wraps reports whether a row below that one may continue another row. The dialog's text may then
// be in other places, and draw other things, than Claude meant.
func (s *screen) wraps(row int) bool {
	for i := row + 1; i <= s.last; i++ {
		if s.goesOn(i) {
			return true
		}
	}
	return false
}

// bottomBlock is the part of the screen where a dialog may be: from the last rule above its options
// to the end.
type bottomBlock struct {
	dialog     *agent.Dialog
	screen     *screen
	top        int    // row of the rule; -1 without one
	first, end int    // rows of the first and last option; first > last without options
	all        string // its text on one line
	foot       string // the text below the options
}

func (b *bottomBlock) has(phrases ...string) bool {
	for _, p := range phrases {
		if !strings.Contains(b.all, p) {
			return false
		}
	}
	return true
}

// top is the row of the nearest rule above row; -1 without one.
func (s *screen) top(row int) int {
	for i := min(row, s.last); i >= 0; i-- {
		if s.rule(i) {
			return i
		}
	}
	return -1
}

// body is the text between the rule and the options.
func (b *bottomBlock) body() string { return b.screen.view.Text(b.top+1, b.first-1) }

// head separates the first line of a text from the rest.
func head(text string) (first, rest string) {
	first, rest, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(first), strings.Trim(rest, "\n")
}

// plan reads a plan's dialog. The plan's text has a block of its own above.
func (b *bottomBlock) plan() bool {
	if asks := flat(b.body()); len(b.dialog.Options) == 0 || !strings.HasPrefix(asks, "Claude has written up a plan ") || !strings.HasSuffix(asks, " Would you like to proceed?") {
		return false
	}
	b.dialog.Type, b.dialog.Title, b.dialog.Tool = agent.PromptPlan, titles[toolPlan], toolPlan
	b.dialog.Partial, b.dialog.Cut = len(b.dialog.Options) < 2, true
	last := b.top - 1
	for last >= 0 && !b.screen.dashes(last) {
		last--
	}
	first := last - 1
	for first >= 0 && !b.screen.dashes(first) {
		first--
	}
	b.dialog.Cut = first < 0 || b.screen.wraps(first)
	var lines []string
	for i := first + 1; i < last; i++ {
		lines = append(lines, strings.TrimPrefix(b.screen.text(i), " "))
	}
	b.dialog.Body = strings.TrimSpace(strings.Join(lines, "\n"))
	return true
}

// dashes reports whether the row is one that Claude drew above or below a plan: see rule.
func (s *screen) dashes(row int) bool { return isDashes(s.text(row)) && !s.goesOn(row) }

// isDashes reports whether the text is one of the rows above and below a plan, a command or a
// file's text.
func isDashes(text string) bool { return strings.HasPrefix(text, "╌╌╌") }

var tab = pattern.New(`[☐☒✔] ([^☐☒✔←→]+)`)

// question reads a question's dialog: its head is its tab or a bar of tabs, its foot says how to
// choose.
func (b *bottomBlock) question() bool {
	d := b.dialog
	if len(d.Options) == 0 {
		return false
	}
	foot, _ := b.screen.lastWords(b.end) // another dialog may be drawn below the options
	confirm := b.has("Review your answers") && d.Options[0].Label == optionSubmit
	choose := strings.Contains(foot, "Enter to select") && strings.Contains(foot, "to navigate")
	if !confirm && !choose {
		return false
	}
	bar, rest := head(b.body())
	for _, m := range tab.FindAllStringSubmatch(bar, -1) {
		if name := strings.TrimSpace(m[1]); name != "Submit" {
			d.Tabs = append(d.Tabs, name)
		}
	}
	d.Tab = b.tabShown(bar)
	if len(d.Tabs) == 0 && !confirm {
		return false
	}
	d.Type, d.Tool, d.Body, d.Confirm = agent.PromptQuestion, toolQuestion, strings.TrimSpace(rest), confirm
	d.Partial = !confirm && !strings.Contains(foot, "Esc to cancel")
	d.Cut = b.cutOff() > 0
	// All pages are one prompt. A bar without room cuts different tabs short on each page.
	d.Key = fmt.Sprintf("%s %d", d.Type, len(d.Tabs))
	if confirm {
		d.Title, d.Current = titleReview, len(d.Tabs)
		d.Body = strings.TrimSpace(strings.TrimPrefix(d.Body, titleReview))
		return true
	}
	if len(d.Tabs) == 1 {
		d.Key += " " + drawn.Squeeze(d.Body)
	}
	d.Title = d.Tabs[0]
	for i := range d.Options {
		o := &d.Options[i]
		if label, ok := strings.CutSuffix(o.Label, " ✔"); ok { // the answer that was chosen when the page was left
			o.Label, o.Ticked = label, true
		}
	}
	if last := d.Options[len(d.Options)-1]; last.Label != optionChat && strings.Contains(b.foot, optionChat) {
		// Next to a preview this option has no number, and the list keeps a mark of its own.
		d.Options = append(d.Options, agent.Option{Label: optionChat, Focused: strings.Contains(b.foot, "❯ "+optionChat)})
	}
	return true
}

// tabShown is the number of the tab with a color of its own, from 1; 0 if none or several have one.
func (b *bottomBlock) tabShown(bar string) (shown int) {
	for i := b.top + 1; i < b.first; i++ {
		row := b.screen.view.Lines[i]
		from := strings.Index(row.Text, bar)
		if from < 0 || bar == "" {
			continue
		}
		for n, at := range tab.FindAllStringIndex(row.Text[from:], -1) {
			switch {
			case row.ColorAt(from+at[0]) == 0:
			case shown > 0:
				return 0
			default:
				shown = n + 1
			}
		}
		return shown
	}
	return 0
}

// The review page, after several questions.
const (
	titleReview  = "Review your answers"
	optionSubmit = "Submit answers"
)

// previews reports whether the dialog shows a preview of each option. Then a digit only moves to an
// option.
func previews(d *agent.Dialog) bool {
	n := len(d.Options)
	return n > 0 && d.Options[n-1].Label == optionChat && d.Options[n-1].Number == 0
}

var (
	asksWhether = pattern.New(`^ *(Do you want to|Would you like to|Allow |Called as ").*$`)
	fromAgent   = pattern.New(`^(.*?) +· +from the (?:([^"].*) agent|".+" workflow)$`)
)

// workflowAgent is the type of subagent that a hook reports for a workflow's (2.1.330). Its dialog names the workflow instead.
const workflowAgent = "workflow-subagent"

// overwrites is the title of the dialog of a Write whose file exists.
const overwrites = "Overwrite file"

// toolOf is the tool for each head of a permission's dialog.
var toolOf = map[string]string{
	"Bash command": "Bash", "Edit file": "Edit", "Create file": "Write", overwrites: "Write", "Fetch": "WebFetch",
	workflowTitle: "Workflow",
}

// The starts of a permission's options. Those of a skill from a server (2.1.330) are "Allow once"
// and "Deny".
const (
	optionYes   = "Yes"
	optionNo    = "No"
	optionAllow = "Allow once"
	optionRun   = "Yes, run it" // of a workflow
	optionDeny  = "Deny"
)

// allows and refuses give the meaning of a permission's option.
func allows(o agent.Option) bool {
	return strings.HasPrefix(o.Label, optionYes) || o.Label == optionAllow
}

func refuses(o agent.Option) bool {
	return strings.HasPrefix(o.Label, optionNo) || o.Label == optionDeny
}

// permission reads a permission's dialog: a question, and options that allow.
func (b *bottomBlock) permission() bool {
	d := b.dialog
	if len(d.Options) < 2 || !slices.ContainsFunc(d.Options, allows) {
		return false
	}
	if b.cutOff() > 0 && b.top >= 0 { // the rule above has no room, so this one is a part of what it shows
		b.top, d.Lines = -1, nil
		for _, row := range b.rows(0, b.screen.last+1) {
			d.Lines = append(d.Lines, strings.TrimRight(row, " "))
		}
	}
	asks := b.asks()
	if asks < 0 {
		return false
	}
	// If the rule above has no room, the whole screen is the dialog's. Newer versions show how many
	// lines have no room; if it is one, that is the rule.
	headless := b.cutOff() > 1 || b.top < 0 && b.cutOff() == 0
	if b.top < 0 && b.cutOff() == 0 && (!b.focused() || !strings.Contains(flat(b.foot), "Esc to cancel")) {
		return false
	}
	d.Type = agent.PromptPermission
	d.Question = joined(b.rows(asks, b.first), b.screen.view.Cols-besideQuestion)
	rows := b.rows(b.top+1, asks)
	if !headless {
		rows = b.heads(rows)
	}
	d.Rows = b.drawn(asks-len(rows), asks)
	b.reads(rows, headless)
	d.Sections = sectionsOf(d)
	if d.Title == titleTool || d.Title == "" && d.Cut { // a command in a frame can look like a call
		d.Tool = mcpTool(d.Body)
	}
	d.Alike = d.Tool == "" || d.Title == workflowTitle
	if !slices.ContainsFunc(d.Options, refuses) {
		d.Partial = true
	}
	return true
}

// asks is the row where the question above the options starts; -1 without one. A workflow's dialog has its question as its title,
// and none above the options.
func (b *bottomBlock) asks() int {
	if b.top >= 0 && strings.TrimSpace(b.screen.text(b.top+1)) == workflowTitle {
		return b.first
	}
	for i := b.first - 1; i > b.top && i >= 0; i-- {
		if asksWhether.MatchString(b.screen.text(i)) {
			if strings.HasSuffix(flat(b.screen.view.Text(i, b.first-1)), "?") {
				return i
			}
			return -1
		}
	}
	return -1
}

func (b *bottomBlock) focused() bool {
	return slices.ContainsFunc(b.dialog.Options, func(o agent.Option) bool { return o.Focused })
}

// rows returns the rows from one to before another.
func (b *bottomBlock) rows(from, to int) []string {
	var all []string
	for i := max(from, 0); i < to; i++ {
		all = append(all, b.screen.text(i))
	}
	return all
}

// drawn returns the same rows with their colors.
func (b *bottomBlock) drawn(from, to int) []agent.DrawnRow {
	var all []agent.DrawnRow
	for i := max(from, 0); i < to; i++ {
		all = append(all, agent.Drawn(b.screen.view.Lines[i]))
	}
	return all
}

// heads removes the dialog's title, and the subagent that asks. If both have no room next to each
// other, each is wrapped in a column of its own.
func (b *bottomBlock) heads(rows []string) []string {
	d := b.dialog
	for len(rows) > 0 && strings.TrimSpace(rows[0]) == "" {
		rows = rows[1:]
	}
	if len(rows) == 0 {
		return nil
	}
	title := strings.TrimSpace(rows[0])
	rest := rows[1:]
	if left, right, ok := strings.Cut(rows[0], "· from the "); ok && !fromAgent.MatchString(title) {
		column := terminal.StringWidth(left)
		for i := 1; i < len(rows) && strings.TrimSpace(rows[i]) != "" && !isDashes(rows[i]); i++ {
			l, r := cutColumn(rows[i], column)
			left, right = left+" "+l, right+" "+r
			if whole := flat(left) + " · from the " + flat(right); fromAgent.MatchString(whole) {
				title, rest = whole, rows[i+1:]
				break
			}
		}
	}
	if m := fromAgent.FindStringSubmatch(title); m != nil {
		title, d.Agent = m[1], cmp.Or(m[2], workflowAgent)
	}
	d.Title, d.Tool = title, toolOf[title]
	return rest
}

// cutColumn divides a row before that column.
func cutColumn(row string, column int) (left, right string) {
	for i := range row {
		if terminal.StringWidth(row[:i]) >= column {
			return row[:i], row[i:]
		}
	}
	return row, ""
}

// reads divides the rows between title and question: what the tool would do, which newer versions
// frame with dashes, and the text about it. It leaves out an advertisement.
func (b *bottomBlock) reads(rows []string, headless bool) {
	d := b.dialog
	var body, tip, framed []string
	dashes, above := 0, 0
	for _, row := range rows {
		text := strings.TrimSpace(row)
		switch {
		case isDashes(row):
			if dashes++; dashes == 2 && headless {
				body = body[above:] // the rows above the frame explain something else
			}
			above = len(body)
			continue
		case dashes == 0 && (len(tip) > 0 && !strings.HasSuffix(tip[len(tip)-1], tipEnds) || strings.HasPrefix(text, tipBegins)):
			tip = append(tip, text)
			continue
		case text == "…" && dashes == 1 && (d.Tool == "Edit" || d.Tool == "Write" || d.Tool == "" && asksFile.MatchString(d.Question)):
			d.Partial = true // a file's change isn't drawn yet
		}
		if dashes == 1 {
			text, _ := unbar(strings.TrimRight(strings.TrimPrefix(row, " "), " "))
			framed = append(framed, text)
		}
		text = strings.TrimSpace(strings.TrimPrefix(text, "│"))
		body = append(body, text)
	}
	if len(tip) > 0 && dashes == 0 { // older versions have no advertisement, so this is a part of the subject
		body = append(tip, body...)
	}
	d.Cut = headless && dashes < 2
	d.Body = strings.Trim(strings.Join(body, "\n"), "\n")
	cols := b.screen.view.Cols
	switch {
	case d.Cut, d.Title == workflowTitle: // its body is about the workflow, and has no part of the call
	case d.Tool == "Edit" || d.Tool == "Write":
		d.Asked = file(d)
	case dashes >= 2:
		d.Asked = strings.Trim(strings.Join(framed, "\n"), "\n")
	default:
		rows := strings.Split(d.Body, "\n")
		n := 1
		for n < len(rows) && runsOn(rows[n-1], rows[n], cols-besideIndented) {
			n++
		}
		d.Asked = strings.Join(rows[:n], "\n")
		if content, _, border, sure := readDrawn(d).plain(); sure && d.Tool == "Bash" {
			if rows, ok := texts(content[:border], 3); ok {
				d.Asked = strings.Join(rows, "\n")
			}
		}
	}
}

var asksFile = pattern.New(` (?:edit to|create|overwrite|write to) (.+)\?$`)

// file is the file of a dialog about one. If the row above the change has no room it starts with
// dots, and the question has the file's name.
func file(d *agent.Dialog) string {
	row, _ := head(d.Body)
	if tail, cut := strings.CutPrefix(row, "…"); cut {
		if m := asksFile.FindStringSubmatch(d.Question); m != nil && strings.HasSuffix(drawn.Squeeze(m[1]), drawn.Squeeze(tail)) {
			return m[1]
		}
	}
	return row
}

// The advertisement that newer versions draw below the title.
const (
	tipBegins = "Tip: "
	tipEnds   = "below"
)

// isBox reports whether a row draws a frame around typed text, as in a search. At any width it
// doesn't continue a text above.
func isBox(row string) bool { return strings.HasPrefix(strings.TrimSpace(row), "╭") }

var leave = pattern.New(`(?i)\b(esc to (cancel|exit|close|go back|dismiss|return|clear|reject|skip)|enter to (confirm|continue|select|close))`)

// lastWords is the text at a dialog's end, which says how to leave it, on one line, and the row
// where it starts.
func (s *screen) lastWords(top int) (words string, first int) {
	first = s.last
	for first > top+1 && strings.TrimSpace(s.text(first-1)) != "" {
		first--
	}
	return flat(s.view.Text(first, s.last)), first
}

// notice reads any other dialog: it is below a rule, and its foot says how to leave it.
func (b *bottomBlock) notice() bool {
	s := b.screen
	top := s.top(s.last)
	words, _ := s.lastWords(top)
	if top < 0 || top >= s.last || !leave.MatchString(words) {
		return false
	}
	d := b.dialog
	d.Type = agent.PromptNotice
	rows := b.rows(top+1, s.last)
	for len(rows) > 0 && strings.TrimSpace(rows[0]) == "" {
		rows = rows[1:]
	}
	if len(rows) == 0 {
		return true
	}
	d.Body = strings.Trim(s.view.Text(s.last-len(rows)+1, s.last-1), "\n")
	title, _, several := strings.Cut(strings.TrimSpace(rows[0]), "  ")
	if !several {
		if n := slices.IndexFunc(rows, isBox); n > 0 {
			rows = rows[:n]
		}
		title = paragraphs(rows, s.view.Cols-besideQuestion)[0]
	}
	d.Title = title
	return true
}
