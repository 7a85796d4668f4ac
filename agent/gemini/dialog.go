package gemini

import (
	"slices"
	"strings"

	"berth/agent"
	"berth/agent/drawn"
	"berth/agent/forks"
	"berth/agent/pattern"
	"berth/terminal"
)

// Phrases that identify dialogs.
const (
	askTrust     = "Do you trust the files in this folder?"
	askAuth      = "How would you like to authenticate for this project?"
	authFoot     = "(Use Enter to select)"
	authTerms    = "Terms of Services and Privacy Notice for Gemini CLI"
	askKey       = "Enter Gemini API Key"
	keyFoot      = "(Press Enter to submit, Esc to cancel, Ctrl+C to clear stored key)"
	askReady     = "Ready to start implementation?"
	askQuestions = "Answer Questions"
	askReview    = "Review your answers:"
	askAction    = "Action Required"
)

// box is the box at the end of the screen, read as a dialog.
type box struct {
	rows        []string // the box's rows, without its sides
	list        []agent.Option
	first, last int // rows of the list; first is len(rows) without one
	dialog      *agent.Dialog
}

// dialog reads the dialog at the bottom of a screen without a composer. It is nil if there is none,
// or if it isn't drawn completely.
func (s *screen) dialog() *agent.Dialog {
	rows, whole := s.box()
	if rows == nil {
		return nil
	}
	b := &box{rows: rows}
	b.options()
	b.dialog = &agent.Dialog{Options: b.list, Lines: rows, Cols: s.view.Cols, Height: s.view.Rows, Cut: !whole || s.hides() || slices.ContainsFunc(rows, isHidden)}
	for _, read := range []func() bool{b.plan, b.question, b.permission, b.trust, b.auth, b.key, b.notice} {
		if read() {
			return b.dialog
		}
	}
	return nil
}

// below matches a row that may be under a dialog: a hint for a key.
var below = pattern.New(`^ *Press \S+ `)

// hides reports whether the dialog has more than it shows.
func (s *screen) hides() bool {
	for i := s.last; i >= 0 && below.MatchString(s.text(i)); i-- {
		if strings.Contains(s.text(i), "to show more lines") {
			return true
		}
	}
	return false
}

// hidden matches the row that replaces rows without room. Below 80 columns it doesn't say which
// rows they are, and it may itself be cut.
var hidden = pattern.New(`^\.\.\. (?:(?:first|last) )?(?:\d.*)?(?:\.\.\.|…)$`)

func isHidden(row string) bool { return hidden.MatchString(strings.Trim(row, " │")) }

// scrollbar matches the end of a box's row with the scrollbar of the alternate screen beside it.
var scrollbar = pattern.New(`([│╮╯]) *[▀▄█]$`)

// box returns the rows of the box whose lower side ends the screen. whole is false when the upper
// side has left the screen, when there is a scrollbar, because the alternate screen repeats a box's
// upper side above rows that are scrolled, or when the terminal wrapped a row: Gemini CLI counts fewer columns for
// some characters than terminals do, and such a text continues in the first column of the next row,
// where it can draw another box.
func (s *screen) box() (rows []string, whole bool) {
	end := s.last
	for end > 0 && (below.MatchString(s.text(end)) || strings.TrimSpace(s.text(end)) == "") {
		end--
	}
	indent := len(s.text(end)) - len(strings.TrimLeft(s.text(end), " "))
	if !strings.HasPrefix(s.text(end)[indent:], "╰──") {
		return nil, false
	}
	rows = []string{}
	broken := s.view.Lines[end].Wrapped || scrollbar.MatchString(s.text(end))
	for i := end - 1; i >= 0; i-- {
		text := scrollbar.ReplaceAllString(s.text(i), "$1")
		broken = broken || s.view.Lines[i].Wrapped || text != s.text(i)
		if len(text) < indent || strings.TrimSpace(text[:indent]) != "" {
			return nil, false
		}
		switch text = text[indent:]; {
		case strings.HasPrefix(text, "╭──"):
			return rows, !broken
		case !strings.HasPrefix(text, "│"):
			return nil, false
		}
		text = strings.TrimRight(strings.TrimSuffix(strings.TrimRight(strings.TrimPrefix(text, "│"), " "), "│"), " ")
		rows = append([]string{strings.TrimPrefix(text, " ")}, rows...)
	}
	return rows, false
}

var (
	// Text in an option's own line is indented by six blanks, and so is a list there.
	optionLine = pattern.New(`^ {0,4}(● )? ?(\d{1,2})\. +(?:\[(.)\] ?)?(\S.*)$`)
	// Two options on one row.
	optionNext = pattern.New(`^(.*\S) {3,}(\d{1,2}\. \S.*)$`)
)

// doneLine ends a list of checkboxes, and has no number.
var doneLine = pattern.New(`^(● )? +Done$`)

// options reads the last list of numbered lines that counts up and has a chosen option. It starts
// at 1, or below the mark of a scrolled list. Its numbers end in one column, because a label can
// continue in a row that looks like an option.
func (b *box) options() {
	b.first, b.last = len(b.rows), -1
	column := b.numbers()
	list := drawn.Numbered(b.rows, func(row string) []agent.Option {
		if found := readOptions(row); len(found) > 0 && (column < 0 || numberEnd(row) == column) {
			return found
		}
		return nil
	}, isScrolled)
	if len(list.Options) == 0 || !list.Whole() && (list.At[0] == 0 || !isScrolled(b.rows[list.At[0]-1])) {
		return
	}
	list.Explain(b.rows, func(row string) bool {
		text := strings.TrimSpace(row)
		return text == "" || text == "▼" || doneLine.MatchString(row)
	}, func(head, label, row string) bool { // one column further left than the label
		begins := strings.Index(head, label)
		return begins > 0 && terminal.StringWidth(head[:begins]) == drawn.Indent(row)+1
	})
	top, last := list.At[0], list.At[len(list.At)-1]
	for _, row := range b.rows[last+1:] {
		if m := doneLine.FindStringSubmatch(row); m != nil && list.Options[len(list.Options)-1].Multiple {
			list.Options = append(list.Options, agent.Option{Label: "Done", Focused: m[1] != ""})
			break
		}
	}
	if list.Focused() > 0 {
		b.list, b.first, b.last = list.Options, top, last
	}
}

// scrolledMark is the row above a list whose first options are out of view.
const scrolledMark = "▲"

func isScrolled(row string) bool { return strings.TrimSpace(row) == scrolledMark }

// numbers is the column where the number of the chosen option ends; -1 when the option has no
// number.
func (b *box) numbers() int {
	for _, row := range slices.Backward(b.rows) {
		switch m, done := optionLine.FindStringSubmatch(row), doneLine.FindStringSubmatch(row); {
		case m != nil && m[1] != "":
			return numberEnd(row)
		case done != nil && done[1] != "":
			return -1
		}
	}
	return -1
}

// numberEnd is the column of the dot after an option's number.
func numberEnd(row string) int { return terminal.StringWidth(row[:strings.IndexByte(row, '.')]) }

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

// has reports whether each of the phrases starts a row. On a narrow screen a phrase goes on in the next rows.
func (b *box) has(phrases ...string) bool {
	for _, p := range phrases {
		if !slices.ContainsFunc(b.starts(), func(i int) bool { return begins(b.rows[i:], p) }) {
			return false
		}
	}
	return true
}

// starts are the rows that aren't blank.
func (b *box) starts() (list []int) {
	for i, row := range b.rows {
		if strings.TrimSpace(row) != "" {
			list = append(list, i)
		}
	}
	return list
}

// begins reports whether the rows start with the phrase, which may be wrapped.
func begins(rows []string, phrase string) bool {
	for _, row := range rows {
		row = strings.TrimSpace(row)
		if strings.HasPrefix(row, phrase) {
			return true
		}
		rest, ok := strings.CutPrefix(phrase, row+" ")
		if !ok || row == "" {
			return false
		}
		phrase = rest
	}
	return false
}

// head is the first row that isn't blank, and the row after it.
func (b *box) head() (text string, next int) {
	for i, row := range b.rows {
		if row = strings.TrimSpace(row); row != "" {
			return row, i + 1
		}
	}
	return "", len(b.rows)
}

// text joins the rows from one to before another, without the sides of inner boxes and without the
// marks of scrolling. A row of the model's can begin like a side.
func (b *box) text(from, to int) string {
	var lines []string
	for _, row := range b.rows[min(from, to):to] {
		bare := strings.TrimSpace(row)
		switch {
		case bare == "▲", bare == "▼", strings.HasPrefix(bare, "╭──") || strings.HasPrefix(bare, "╰──"):
			if strings.Trim(bare, "╭╮╰╯─▲▼") == "" {
				continue
			}
		case strings.HasPrefix(bare, "│"):
			row = strings.TrimPrefix(strings.TrimSuffix(strings.TrimPrefix(bare, "│"), "│"), " ")
		}
		lines = append(lines, strings.TrimRight(row, " "))
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// foot is the text below the options. It may take several rows.
func (b *box) foot() string { return lastWords(b.rows[b.last+1:]) }

// lastWords joins the rows after the last blank one.
func lastWords(rows []string) string {
	var words []string
	for _, row := range slices.Backward(rows) {
		if row = strings.TrimSpace(row); row == "" && len(words) > 0 {
			break
		} else if row != "" {
			words = append([]string{row}, words...)
		}
	}
	return strings.Join(words, " ")
}

func (b *box) is(t agent.PromptType, subtype, title string) bool {
	b.dialog.Type, b.dialog.Subtype, b.dialog.Title = t, subtype, title
	return true
}

// plan reads a plan's dialog, which has the plan's text.
func (b *box) plan() bool {
	head, next := b.head()
	if len(b.list) == 0 || !strings.HasPrefix(b.foot(), "Enter to s") { // "to select" or "to submit"
		return false
	}
	if head != askReady {
		if !b.dialog.Cut || len(b.list) != 3 || b.list[0].Label != "Yes, automatically accept edits" || b.list[1].Label != "Yes, manually accept edits" {
			return false
		}
		next = 0 // its first rows have left the screen
	}
	b.dialog.Body, b.dialog.Tool = b.text(next, b.first), toolPlan
	return b.is(agent.PromptPlan, "", askReady)
}

// tabBar is the row of tabs above several questions, and tab one of them. On a narrow screen a tab's
// text is cut off, and the blanks are elsewhere.
var (
	tabBar = pattern.New(`^← ?.*≡.* →$`)
	tab    = pattern.New(`[□✓] +([^│□✓←→≡]+)`)
)

// question reads a question's dialog: with options or a text field, and for several questions also
// the review page.
func (b *box) question() bool {
	head, next := b.head()
	foot := b.foot()
	if head != askQuestions || !strings.HasPrefix(foot, "Enter to ") {
		return false
	}
	d := b.dialog
	d.Confirm = b.has(askReview)
	for i := next; i < len(b.rows); i++ {
		if bar := strings.TrimSpace(b.rows[i]); tabBar.MatchString(bar) {
			for _, m := range tab.FindAllStringSubmatch(bar, -1) {
				d.Tabs = append(d.Tabs, strings.TrimSpace(m[1]))
			}
			next = i + 1
			break
		}
	}
	d.Body = b.text(next, b.first)
	if len(b.list) == 0 {
		if at := strings.LastIndex(d.Body, "\n\n"); flat(d.Body[max(at, 0):]) == foot {
			d.Body = d.Body[:max(at, 0)]
		}
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

// written is a question without the line for its answer.
func written(body string, confirm bool) string {
	body = strings.TrimRight(body, " \n")
	if at := strings.LastIndex(body, "\n> "); at >= 0 && !confirm {
		body = body[:at]
	}
	return strings.TrimSpace(body)
}

var (
	toolRow = pattern.New(`^\? +(\S.*)$`)
	placeOf = pattern.New(` {2,}(\d{1,2}) of \d{1,2}$`) // of calls side by side
)

// permission reads a permission's dialog: its first option allows, its last one denies. The text
// above them may take several rows, and differs for every call.
func (b *box) permission() bool {
	d := b.dialog
	if len(b.list) < 2 || !strings.HasPrefix(b.list[0].Label, "Allow") || !strings.HasPrefix(b.list[len(b.list)-1].Label, "No") {
		return false
	}
	head, next := b.head()
	if m := placeOf.FindStringSubmatch(head); m != nil {
		d.Place = pattern.Number(m[1])
	}
	action := placeOf.ReplaceAllString(head, "") == askAction
	if action {
		for next < b.first && strings.TrimSpace(b.rows[next]) == "" {
			next++
		}
		if next < b.first {
			head, next = strings.TrimSpace(b.rows[next]), next+1
		}
	}
	title, rest, body := "", "", ""
	if m := toolRow.FindStringSubmatch(head); m != nil {
		if next < b.first && !action && tools[b.rows[next]] != "" { // the name had no room next to its subject, which is indented
			m[1], next = b.rows[next]+"  "+m[1], next+1
		}
		body = b.text(next, b.first)
		title, rest = heading(m[1], body, action)
		d.Cut = d.Cut || b.folds(head)
		d.Tool = tools[title]
	} else {
		body, d.Cut = b.text(0, b.first), true // its first rows have left the screen
	}
	// The dialog of a server's tool is folded, and a long path lacks folders. Other tools weren't
	// measured.
	d.Alike = d.Tool != toolShell && d.Tool != toolEnterPlan
	if rows, _ := inner(b.rows[:b.first]); d.Tool == toolShell && len(rows) == 0 {
		d.Cut = true // the command's box had no room; the first row may be the model's description
	}
	d.Body = strings.TrimSpace(rest + "\n" + body)
	return b.is(agent.PromptPermission, "", title)
}

// folds reports whether the dialog doesn't show all of the arguments of a server's tool: they are on
// its first row alone, as JSON, and cut off where they have no room.
func (b *box) folds(head string) bool {
	return b.has("MCP Tool Details:") && !strings.HasSuffix(placeOf.ReplaceAllString(head, ""), "}")
}

// tools are those with measured dialogs, by the name in the dialog.
var tools = map[string]string{"Shell": toolShell, "WriteFile": toolWrite, "Edit": toolEdit, "Enter Plan Mode": toolEnterPlan}

// heading separates the tool's name from its subject. The dialogs of commands and changes lack the
// words "Action Required"; with these words a server's tool can have any name. On a narrow screen
// nothing separates the two.
func heading(row, body string, action bool) (name, about string) {
	for known, tool := range tools {
		plans := tool == toolEnterPlan && strings.HasSuffix(flat(body), flat(plansOnly))
		if plans && (row == known || strings.HasPrefix(row, known+" ")) || !action && tool != toolEnterPlan && strings.HasPrefix(row, known) {
			return known, strings.TrimSpace(row[len(known):])
		}
	}
	name, about, _ = strings.Cut(row, "  ")
	return strings.TrimSpace(name), strings.TrimSpace(about)
}

// flat replaces each stretch of blanks and line ends with one blank.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }

var leave = pattern.New(`(?i)\b(esc to (cancel|close|exit|go back)|use enter to select)`)

// notice reads any other box with a chosen option, or with text on how to leave it: the notice
// about a reached limit, or those of commands. In a box with a spinner Gemini itself waits for
// something.
func (b *box) notice() bool {
	head, next := b.head()
	if forks.Spins(head) || len(b.list) < 2 && !leave.MatchString(b.foot()) {
		return false
	}
	if m := toolRow.FindStringSubmatch(head); m != nil {
		head = m[1]
	}
	b.dialog.Body = b.text(next, b.first)
	for _, o := range b.list { // it is asked while the turn ends, and the title shows that end
		b.dialog.AfterTurn = b.dialog.AfterTurn || strings.Contains(o.Label, "loop detection")
	}
	if len(b.list) > 0 { // an option can be chosen, so the text matters
		for _, o := range b.list {
			b.dialog.Body = strings.TrimSpace(b.dialog.Body + "\n" + o.More)
		}
		b.dialog.Key = strings.Join([]string{string(agent.PromptNotice), head, b.dialog.Body}, "\x00")
	}
	return b.is(agent.PromptNotice, "", head)
}
