package claude

import (
	"fmt"
	"slices"
	"strings"

	"berth/agent"
	"berth/agent/drawn"
	"berth/agent/pattern"
	"berth/terminal"
)

// dialog reads the dialog at the bottom of a screen without a composer; nil
// when there is none, or not enough of one.
func (s *screen) dialog() *agent.Dialog {
	options, first, end, unsure := s.options()
	if answers, from, to := s.answers(); answers != nil && (options == nil || from > end) {
		options, first, end = answers, from, to
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

// wraps says that a row below that one may hold the rest of another. Where the dialog's text is then,
// and what it draws, is not what Claude meant.
func (s *screen) wraps(row int) bool {
	for i := row + 1; i <= s.last; i++ {
		if s.goesOn(i) {
			return true
		}
	}
	return false
}

// bottomBlock is the part of the screen in which a dialog may be: from below
// the last rule above its options to the end.
type bottomBlock struct {
	dialog     *agent.Dialog
	screen     *screen
	top        int    // row of the rule, -1 when there is none
	first, end int    // rows of the first and last option; first > last row when there are none
	all        string // its text on one line
	foot       string // that below the options
}

func (b *bottomBlock) has(phrases ...string) bool {
	for _, p := range phrases {
		if !strings.Contains(b.all, p) {
			return false
		}
	}
	return true
}

// top is the row of the nearest rule above row; -1 when there is none.
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

// head cuts the first line of a text off.
func head(text string) (first, rest string) {
	first, rest, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(first), strings.Trim(rest, "\n")
}

// plan: the plan itself has a block of its own above.
func (b *bottomBlock) plan() bool {
	if asks := flat(b.body()); len(b.dialog.Options) == 0 || !strings.HasPrefix(asks, "Claude has written up a plan ") || !strings.HasSuffix(asks, " Would you like to proceed?") {
		return false
	}
	b.dialog.Type, b.dialog.Title, b.dialog.Tool = agent.PromptPlan, titles[toolPlan], toolPlan
	b.dialog.Partial, b.dialog.Cut = len(b.dialog.Options) < 2, true
	last := b.top - 1
	for last >= 0 && !isDashes(b.screen.text(last)) {
		last--
	}
	first := last - 1
	for first >= 0 && !isDashes(b.screen.text(first)) {
		first--
	}
	b.dialog.Cut = first < 0
	var lines []string
	for i := first + 1; i < last; i++ {
		lines = append(lines, strings.TrimPrefix(b.screen.text(i), " "))
	}
	b.dialog.Body = strings.TrimSpace(strings.Join(lines, "\n"))
	return true
}

// isDashes: such a row is above and below a plan, a command, a file's text.
func isDashes(text string) bool { return strings.HasPrefix(text, "╌╌╌") }

var tab = pattern.New(`[☐☒✔] ([^☐☒✔←→]+)`)

// question: headed by its tab or a bar of tabs, and ended by how to choose.
func (b *bottomBlock) question() bool {
	d := b.dialog
	if len(d.Options) == 0 {
		return false
	}
	foot := flat(b.foot)
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
	// Its pages are one prompt. A bar without room cuts other tabs short on each.
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
		if label, ok := strings.CutSuffix(o.Label, " ✔"); ok { // what was chosen when the page was left
			o.Label, o.Ticked = label, true
		}
	}
	if last := d.Options[len(d.Options)-1]; last.Label != optionChat && strings.Contains(b.foot, optionChat) {
		// Without a number beside a preview. The list keeps a mark of its own.
		d.Options = append(d.Options, agent.Option{Label: optionChat, Focused: strings.Contains(b.foot, "❯ "+optionChat)})
	}
	return true
}

// tabShown is the number of the tab that has a color of its own, from 1; 0 where none or
// several have.
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

// The page after several questions.
const (
	titleReview  = "Review your answers"
	optionSubmit = "Submit answers"
)

// previews says that the question's options are shown with what they would
// look like: then a digit only moves to one.
func previews(d *agent.Dialog) bool {
	n := len(d.Options)
	return n > 0 && d.Options[n-1].Label == optionChat && d.Options[n-1].Number == 0
}

var (
	asksWhether = pattern.New(`^ *(Do you want to|Would you like to|Allow ).*$`)
	fromAgent   = pattern.New(`^(.*?) +· +from the (.+) agent$`)
)

// toolOf is the tool whose permission's dialog is headed so.
var toolOf = map[string]string{
	"Bash command": "Bash", "Edit file": "Edit", "Create file": "Write", "Overwrite file": "Write", "Fetch": "WebFetch",
}

// permission: asks whether to, with answers that begin with yes.
func (b *bottomBlock) permission() bool {
	d := b.dialog
	if len(d.Options) < 2 || !slices.ContainsFunc(d.Options, func(o agent.Option) bool { return strings.HasPrefix(o.Label, "Yes") }) {
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
	// Where the rule above has no room, all of the screen is the dialog's. Newer
	// versions say how much has none: of one line it is the rule.
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
	if d.Tool == "" && (d.Title == "" || d.Title == titleTool) {
		d.Tool = mcpTool(d.Body)
	}
	if !slices.ContainsFunc(d.Options, func(o agent.Option) bool { return strings.HasPrefix(o.Label, "No") }) {
		d.Partial = true
	}
	return true
}

// asks is the row on which the question above the options begins; -1 when there is
// none.
func (b *bottomBlock) asks() int {
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

// rows are the rows from one on and before another.
func (b *bottomBlock) rows(from, to int) []string {
	var all []string
	for i := max(from, 0); i < to; i++ {
		all = append(all, b.screen.text(i))
	}
	return all
}

// drawn is the same, with how they look.
func (b *bottomBlock) drawn(from, to int) []agent.DrawnRow {
	var all []agent.DrawnRow
	for i := max(from, 0); i < to; i++ {
		all = append(all, agent.Drawn(b.screen.view.Lines[i]))
	}
	return all
}

// heads takes the dialog's title off, and which subagent asks. Where both have no
// room beside each other, each is broken into a column of its own.
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
	if left, right, ok := strings.Cut(rows[0], "· from the "); ok && !strings.HasSuffix(title, " agent") {
		column := terminal.StringWidth(left)
		right = "from the " + right
		for len(rest) > 0 && !strings.HasSuffix(flat(right), " agent") && strings.TrimSpace(rest[0]) != "" {
			l, r := cutColumn(rest[0], column)
			left, right, rest = left+" "+l, right+" "+r, rest[1:]
		}
		title = flat(left) + " · " + flat(right)
	}
	if m := fromAgent.FindStringSubmatch(title); m != nil {
		title, d.Agent = m[1], m[2]
	}
	d.Title, d.Tool = title, toolOf[title]
	return rest
}

// cutColumn cuts a row before that column.
func cutColumn(row string, column int) (left, right string) {
	for i := range row {
		if terminal.StringWidth(row[:i]) >= column {
			return row[:i], row[i:]
		}
	}
	return row, ""
}

// reads takes the rows between title and question apart: what the tool would do,
// which newer versions frame with dashes, and what explains it. An advertisement
// is no part of what is asked about.
func (b *bottomBlock) reads(rows []string, headless bool) {
	d := b.dialog
	var body, tip, framed []string
	dashes, above := 0, 0
	for _, row := range rows {
		text := strings.TrimSpace(row)
		switch {
		case isDashes(row):
			if dashes++; dashes == 2 && headless {
				body = body[above:] // what is above the frame is the rest of something
			}
			above = len(body)
			continue
		case dashes == 0 && (len(tip) > 0 && !strings.HasSuffix(tip[len(tip)-1], tipEnds) || strings.HasPrefix(text, tipBegins)):
			tip = append(tip, text)
			continue
		case text == "…" && dashes == 1 && (d.Tool == "Edit" || d.Tool == "Write" || d.Tool == "" && asksFile.MatchString(d.Question)):
			d.Partial = true // a file's change is not drawn yet
		}
		if dashes == 1 {
			text, _ := unbar(strings.TrimRight(strings.TrimPrefix(row, " "), " "))
			framed = append(framed, text)
		}
		text = strings.TrimSpace(strings.TrimPrefix(text, "│"))
		body = append(body, text)
	}
	if len(tip) > 0 && dashes == 0 { // no advertisement, then: older versions have none
		body = append(tip, body...)
	}
	d.Cut = headless && dashes < 2
	d.Body = strings.Trim(strings.Join(body, "\n"), "\n")
	cols := b.screen.view.Cols
	switch {
	case d.Cut:
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

// file is the file of a dialog about one: its row above the change begins with dots
// when it has no room, and the question has its name.
func file(d *agent.Dialog) string {
	row, _ := head(d.Body)
	if tail, cut := strings.CutPrefix(row, "…"); cut {
		if m := asksFile.FindStringSubmatch(d.Question); m != nil && strings.HasSuffix(drawn.Squeeze(m[1]), drawn.Squeeze(tail)) {
			return m[1]
		}
	}
	return row
}

// The advertisement that newer versions put below the title.
const (
	tipBegins = "Tip: "
	tipEnds   = "below"
)

// isBox says that a row draws the frame around what is typed, as for a search: it goes
// on from no text above, however wide it is.
func isBox(row string) bool { return strings.HasPrefix(strings.TrimSpace(row), "╭") }

var leave = pattern.New(`(?i)\b(esc to (cancel|exit|close|go back|dismiss|return|clear|reject|skip)|enter to (confirm|continue|select|close))`)

// lastWords are the words at a dialog's end, which tell how to leave it, on one
// line, and the row that they begin on.
func (s *screen) lastWords(top int) (words string, first int) {
	first = s.last
	for first > top+1 && strings.TrimSpace(s.text(first-1)) != "" {
		first--
	}
	return flat(s.view.Text(first, s.last)), first
}

// notice: any other dialog: below a rule, ended by how to leave it.
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
