package gemini

import (
	"slices"
	"strings"

	"berth/agent"
	"berth/agent/drawn"
	"berth/agent/pattern"
)

// Phrases that dialogs are known by.
const (
	askTrust     = "Do you trust the files in this folder?"
	askAuth      = "How would you like to authenticate for this project?"
	askKey       = "Enter Gemini API Key"
	askReady     = "Ready to start implementation?"
	askQuestions = "Answer Questions"
	askReview    = "Review your answers:"
	askAction    = "Action Required"
)

// box is the box that ends the screen, read as a dialog.
type box struct {
	rows        []string // what is in it, without its sides
	list        []agent.Option
	first, last int // rows of the list; first is len(rows) when there is none
	dialog      *agent.Dialog
}

// dialog reads the dialog at the bottom of a screen without a composer; nil
// when there is none, or not all of it is painted.
func (s *screen) dialog() *agent.Dialog {
	rows := s.box()
	if rows == nil {
		return nil
	}
	b := &box{rows: rows}
	b.options()
	b.dialog = &agent.Dialog{Options: b.list, Lines: rows, Cols: s.view.Cols, Height: s.view.Rows, Cut: s.hides()}
	for _, read := range []func() bool{b.plan, b.question, b.permission, b.trust, b.auth, b.key, b.notice} {
		if read() {
			return b.dialog
		}
	}
	return nil
}

// below is a row that may stand under a dialog: a hint of a key.
var below = pattern.New(`^ *Press \S+ `)

// hides says that the dialog has more than it shows.
func (s *screen) hides() bool {
	for i := s.last; i >= 0 && below.MatchString(s.text(i)); i-- {
		if strings.Contains(s.text(i), "to show more lines") {
			return true
		}
	}
	return false
}

// hidden is a row in place of those that have no room.
var hidden = pattern.New(`\.\.\. (?:first|last) \d+ lines? hidden`)

// box is what is in the box whose lower side ends the screen. Its upper side
// may have left the screen.
func (s *screen) box() []string {
	end := s.last
	for end > 0 && (below.MatchString(s.text(end)) || strings.TrimSpace(s.text(end)) == "") {
		end--
	}
	indent := len(s.text(end)) - len(strings.TrimLeft(s.text(end), " "))
	if !strings.HasPrefix(s.text(end)[indent:], "╰──") {
		return nil
	}
	rows := []string{}
	for i := end - 1; i >= 0; i-- {
		text := s.text(i)
		if len(text) < indent || strings.TrimSpace(text[:indent]) != "" {
			return nil
		}
		switch text = text[indent:]; {
		case strings.HasPrefix(text, "╭──"):
			return rows
		case !strings.HasPrefix(text, "│"):
			return nil
		}
		text = strings.TrimRight(strings.TrimSuffix(strings.TrimRight(strings.TrimPrefix(text, "│"), " "), "│"), " ")
		rows = append([]string{strings.TrimPrefix(text, " ")}, rows...)
	}
	return rows
}

var (
	// What is written in an option's own line stands six blanks in, a list there too.
	optionLine = pattern.New(`^ {0,4}(● )? ?(\d{1,2})\. +(?:\[(.)\] ?)?(\S.*)$`)
	// Two options in a row.
	optionNext = pattern.New(`^(.*\S) {3,}(\d{1,2}\. \S.*)$`)
)

// doneLine ends a list of boxes to tick, and has no number.
var doneLine = pattern.New(`^(● )? +Done$`)

// options reads the last list of numbered lines that counts up and has one of them
// chosen: from 1, or from below the mark of a list that is scrolled.
func (b *box) options() {
	b.first, b.last = len(b.rows), -1
	want, top := 0, 0
	var list, done []agent.Option
	var rows []int // the row of each option in list
	for i := len(b.rows) - 1; i >= 0; i-- {
		found := readOptions(b.rows[i])
		if m := doneLine.FindStringSubmatch(b.rows[i]); m != nil && want == 0 {
			done = []agent.Option{{Label: "Done", Focused: m[1] != ""}}
		}
		if len(found) == 0 || want != 0 && found[len(found)-1].Number != want {
			continue // a number in an option's description
		}
		if want == 0 {
			b.last = i
		}
		list, top = append(found, list...), i
		rows = append(slices.Repeat([]int{i}, len(found)), rows...)
		if want = found[0].Number - 1; want == 0 {
			break
		}
	}
	scrolled := want > 0 && top > 0 && strings.TrimSpace(b.rows[top-1]) == "▲"
	if want != 0 && !scrolled || len(list) == 0 {
		b.last = -1
		return
	}
	b.explain(list, rows)
	if b.first = top; list[len(list)-1].Multiple {
		list = append(list, done...)
	}
	for _, o := range list {
		if o.Focused {
			b.list = list
			return
		}
	}
	b.first, b.last = len(b.rows), -1
}

// explain attaches descriptions to options. A description is the rows below an option, up to
// the next option, a blank row or the mark of a list that scrolls.
func (b *box) explain(list []agent.Option, rows []int) {
	for k, row := range rows {
		var more []string
		for i := row + 1; i < len(b.rows) && (k+1 == len(rows) || i < rows[k+1]); i++ {
			text := strings.TrimSpace(b.rows[i])
			if text == "" || text == "▼" || doneLine.MatchString(b.rows[i]) {
				break
			}
			more = append(more, text)
		}
		list[k].More = strings.Join(more, "\n")
	}
}

func readOptions(row string) []agent.Option {
	m := optionLine.FindStringSubmatch(row)
	if m == nil {
		return nil
	}
	o := agent.Option{
		Number: pattern.Number(m[2]), Focused: m[1] != "", Label: strings.TrimSpace(m[4]),
		Multiple: m[3] != "", Ticked: m[3] != "" && m[3] != " ",
	}
	if n := optionNext.FindStringSubmatch(o.Label); n != nil {
		if more := readOptions(n[2]); len(more) > 0 && more[0].Number == o.Number+1 {
			o.Label = n[1]
			return append([]agent.Option{o}, more...)
		}
	}
	return []agent.Option{o}
}

// has says whether each of the phrases begins a row.
func (b *box) has(phrases ...string) bool {
	for _, p := range phrases {
		found := false
		for _, row := range b.rows {
			found = found || strings.HasPrefix(strings.TrimSpace(row), p)
		}
		if !found {
			return false
		}
	}
	return true
}

// head is the first row that is not blank, and the row behind it.
func (b *box) head() (text string, next int) {
	for i, row := range b.rows {
		if row = strings.TrimSpace(row); row != "" {
			return row, i + 1
		}
	}
	return "", len(b.rows)
}

// text is the rows from one to before another, without the sides of boxes in
// them and the marks of what can be scrolled.
func (b *box) text(from, to int) string {
	var lines []string
	for _, row := range b.rows[min(from, to):to] {
		bare := strings.TrimSpace(row)
		switch {
		case strings.HasPrefix(bare, "╭──"), strings.HasPrefix(bare, "╰──"), bare == "▲", bare == "▼":
			continue
		case strings.HasPrefix(bare, "│"):
			row = strings.TrimPrefix(strings.TrimSuffix(strings.TrimPrefix(bare, "│"), "│"), " ")
		}
		lines = append(lines, strings.TrimRight(row, " "))
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// foot is the last row that is not blank.
func (b *box) foot() string {
	for i := len(b.rows) - 1; i > b.last; i-- {
		if text := strings.TrimSpace(b.rows[i]); text != "" {
			return text
		}
	}
	return ""
}

func (b *box) is(t agent.PromptType, subtype, title string) bool {
	b.dialog.Type, b.dialog.Subtype, b.dialog.Title = t, subtype, title
	return true
}

func (b *box) trust() bool {
	if !b.has(askTrust) || len(b.list) < 2 || !strings.HasPrefix(b.list[0].Label, "Trust folder") {
		return false
	}
	b.dialog.Body = b.text(0, b.first)
	return b.is(agent.PromptPermission, agent.SubtypeTrust, askTrust)
}

func (b *box) auth() bool {
	if !b.has(askAuth) || len(b.list) < 2 {
		return false
	}
	b.dialog.Body = b.text(0, b.first)
	return b.is(agent.PromptSetup, agent.SubtypeAuth, askAuth)
}

// key: what is typed into it is shown as it is, and never kept.
func (b *box) key() bool {
	if !b.has(askKey, "(Press Enter to submit") {
		return false
	}
	inner := false
	var lines []string
	for _, row := range b.rows {
		switch bare := strings.TrimSpace(row); {
		case strings.HasPrefix(bare, "╭──"):
			inner = true
		case strings.HasPrefix(bare, "╰──"):
			inner = false
		case !inner:
			lines = append(lines, row)
		}
	}
	b.dialog.Lines, b.dialog.Options = lines, nil
	b.rows, b.first, b.last = lines, len(lines), -1
	b.dialog.Body = b.text(0, len(lines))
	return b.is(agent.PromptSetup, agent.SubtypeAPIKey, askKey)
}

// plan: the plan itself is in the dialog.
func (b *box) plan() bool {
	head, next := b.head()
	if head != askReady || len(b.list) == 0 || !strings.HasPrefix(b.foot(), "Enter to s") { // to select, to submit
		return false
	}
	b.dialog.Body, b.dialog.Tool = b.text(next, b.first), toolPlan
	return b.is(agent.PromptPlan, "", askReady)
}

var tab = pattern.New(`[□✓] ([^│□✓←→≡]+)`)

// question: some to choose from, some to be written, and of several the page
// that shows all answers.
func (b *box) question() bool {
	head, next := b.head()
	foot := b.foot()
	if head != askQuestions || !strings.HasPrefix(foot, "Enter to ") {
		return false
	}
	d := b.dialog
	d.Confirm = b.has(askReview)
	for i := next; i < len(b.rows); i++ {
		if bar := strings.TrimSpace(b.rows[i]); strings.HasPrefix(bar, "← ") && strings.HasSuffix(bar, " →") {
			for _, m := range tab.FindAllStringSubmatch(bar, -1) {
				d.Tabs = append(d.Tabs, strings.TrimSpace(m[1]))
			}
			next = i + 1
			break
		}
	}
	d.Body = b.text(next, b.first)
	if len(b.list) == 0 {
		d.Body = written(strings.TrimSuffix(d.Body, foot), d.Confirm)
	}
	d.Tool = toolAsk
	if d.Confirm {
		d.Current = len(d.Tabs)
	}
	if len(d.Tabs) == 0 { // several questions are one prompt with a page for each; tabs identify it
		d.Key = string(agent.PromptQuestion) + " " + drawn.Squeeze(d.Body)
	}
	return b.is(agent.PromptQuestion, "", "")
}

// written is a question without the line that its answer is typed into.
func written(body string, confirm bool) string {
	body = strings.TrimRight(body, " \n")
	if at := strings.LastIndex(body, "\n> "); at >= 0 && !confirm {
		body = body[:at]
	}
	return strings.TrimSpace(body)
}

var (
	asksWhether = pattern.New(`^(Allow |Apply |Do you want to ).*\?$`)
	toolRow     = pattern.New(`^\? +(\S.*)$`)
	placeOf     = pattern.New(` {2,}(\d{1,2}) of \d{1,2}$`) // of calls side by side
)

// permission: asks whether to, with answers that begin with one that allows and
// end with one that does not.
func (b *box) permission() bool {
	d := b.dialog
	if len(b.list) < 2 || !strings.HasPrefix(b.list[0].Label, "Allow") || !strings.HasPrefix(b.list[len(b.list)-1].Label, "No") {
		return false
	}
	asks := false
	for _, row := range b.rows[:b.first] {
		asks = asks || asksWhether.MatchString(strings.TrimSpace(row))
	}
	head, next := b.head()
	if head == askAction {
		for next < b.first && strings.TrimSpace(b.rows[next]) == "" {
			next++
		}
		if next < b.first {
			head, next = strings.TrimSpace(b.rows[next]), next+1
		}
	}
	if !asks {
		return false
	}
	if m := placeOf.FindStringSubmatch(head); m != nil {
		d.Place = pattern.Number(m[1])
	}
	title, rest := "", ""
	if m := toolRow.FindStringSubmatch(head); m != nil {
		title, rest = heading(m[1])
	} else {
		next, d.Cut = 0, true // a long one, whose first rows have left the screen
	}
	d.Cut = d.Cut || hidden.MatchString(strings.Join(b.rows[:b.first], "\n"))
	d.Tool = tools[title]
	d.Alike = d.Tool == "" // a server's tool is folded; other tools were not measured
	if rows, _ := inner(b.rows[:b.first]); d.Tool == toolShell && len(rows) == 0 {
		d.Cut = true // the command's box had no room; the first row may be the model's description
	}
	d.Body = strings.TrimSpace(rest + "\n" + b.text(next, b.first))
	return b.is(agent.PromptPermission, "", title)
}

// tools are those whose dialogs were seen, by the name that they show.
var tools = map[string]string{"Shell": toolShell, "WriteFile": toolWrite, "Edit": toolEdit, "Enter Plan Mode": toolEnterPlan}

// heading parts the tool's name from what it is about.
func heading(row string) (name, about string) {
	for known := range tools {
		if row == known || strings.HasPrefix(row, known+" ") {
			return known, strings.TrimSpace(row[len(known):])
		}
	}
	name, about, _ = strings.Cut(row, "  ")
	return strings.TrimSpace(name), strings.TrimSpace(about)
}

var leave = pattern.New(`(?i)\b(esc to (cancel|close|exit|go back)|use enter to select)`)

// notice: any other box with a list of which one is chosen, or with a word on
// how to leave it: the one about a limit that is reached, those of commands. In
// one with a spinner Gemini itself waits for something.
func (b *box) notice() bool {
	head, next := b.head()
	if spins(head) || len(b.list) < 2 && !leave.MatchString(b.foot()) {
		return false
	}
	if m := toolRow.FindStringSubmatch(head); m != nil {
		head = m[1]
	}
	b.dialog.Body = b.text(next, b.first)
	for _, o := range b.list { // asked as the turn ends, and the title says that it has
		b.dialog.AfterTurn = b.dialog.AfterTurn || strings.Contains(o.Label, "loop detection")
	}
	return b.is(agent.PromptNotice, "", head)
}
