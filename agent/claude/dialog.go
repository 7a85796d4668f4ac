package claude

import (
	"regexp"
	"strings"

	"berth/agent"
)

// dialog reads the dialog at the bottom of a screen without a composer; nil
// when there is none, or not enough of one.
func (s *screen) dialog() *agent.Dialog {
	options, first, end := s.options()
	top := s.top(first)
	d := &agent.Dialog{Options: options}
	for i := max(top, 0); i <= s.last; i++ {
		d.Lines = append(d.Lines, strings.TrimRight(s.text(i), " "))
	}
	b := bottomBlock{
		dialog: d, top: top, first: first, end: end, screen: s,
		all: s.join(max(top, 0), s.last), foot: s.join(end+1, s.last),
	}
	for _, read := range []func() bool{b.setup, b.plan, b.question, b.form, b.permission, b.notice} {
		if read() {
			return d
		}
	}
	return nil
}

// bottomBlock is the part of the screen in which a dialog may be: from below
// the last rule above its options to the end.
type bottomBlock struct {
	dialog     *agent.Dialog
	screen     *screen
	top        int    // row of the rule, -1 when there is none
	first, end int    // rows of the first and last option; first > last row when there are none
	all, foot  string // its text, and that below the options
}

func (b *bottomBlock) has(phrases ...string) bool {
	for _, p := range phrases {
		if !strings.Contains(b.all, p) {
			return false
		}
	}
	return true
}

func (s *screen) join(from, to int) string {
	var lines []string
	for i := max(from, 0); i <= to; i++ {
		lines = append(lines, strings.TrimSpace(s.text(i)))
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// top is the row of the nearest rule above row; -1 when there is none.
func (s *screen) top(row int) int {
	for i := min(row, s.last); i >= 0; i-- {
		if isRule(s.text(i)) {
			return i
		}
	}
	return -1
}

var optionLine = regexp.MustCompile(`^( *)(❯ )?( *)(\d{1,2})\. (?:\[(.)\] ?)?(.*)$`)

// sideBox begins the preview that is drawn to the right of a list.
var sideBox = regexp.MustCompile(` {2,}[┌│└├╭╰].*$`)

// options reads the last list of numbered lines that counts up from 1. first
// is beyond the last row when there is none.
func (s *screen) options() (list []agent.Option, first, end int) {
	want := 0
	var rows []int
	for i := s.last; i >= 0; i-- {
		m := optionLine.FindStringSubmatch(s.text(i))
		if m == nil {
			continue
		}
		o := agent.Option{
			Number: atoi(m[4]), Focused: m[2] != "", Label: strings.TrimSpace(sideBox.ReplaceAllString(m[6], "")),
			Multiple: m[5] != "", Ticked: m[5] != "" && m[5] != " ",
		}
		if want != 0 && o.Number != want {
			continue // a number in an option's description
		}
		list, rows, want = append([]agent.Option{o}, list...), append([]int{i}, rows...), o.Number-1
		if want == 0 {
			s.goOn(list, rows)
			return list, rows[0], rows[len(rows)-1]
		}
	}
	return nil, s.last + 1, s.last
}

func atoi(digits string) int {
	n := 0
	for _, c := range digits {
		n = n*10 + int(c-'0')
	}
	return n
}

// goOn puts the rest of a label that was broken into lines behind it: rows
// that are indented as far as the label, in a list of answers to a permission.
// Elsewhere such rows are descriptions.
func (s *screen) goOn(list []agent.Option, rows []int) {
	if !strings.HasPrefix(list[0].Label, "Yes") || list[0].Multiple {
		return
	}
	for k, row := range rows {
		for i := row + 1; i <= s.last && (k+1 == len(rows) || i < rows[k+1]); i++ {
			text := s.text(i)
			if !strings.HasPrefix(text, "      ") || strings.Contains(text, "shift+tab to approve") {
				break
			}
			list[k].Label += " " + strings.TrimSpace(text)
		}
	}
}

// body is the text between the rule and the options.
func (b *bottomBlock) body() string { return b.screen.join(b.top+1, b.first-1) }

// head cuts the first line of a text off.
func head(text string) (first, rest string) {
	first, rest, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(first), strings.Trim(rest, "\n")
}

// plan: the plan itself stands in a block of its own above.
func (b *bottomBlock) plan() bool {
	if len(b.dialog.Options) == 0 || !b.has("has written up a plan", "Would you like to proceed?") {
		return false
	}
	b.dialog.Type, b.dialog.Title, b.dialog.Tool = agent.PromptPlan, titles[toolPlan], toolPlan
	b.dialog.Partial = len(b.dialog.Options) < 2
	var lines []string
	open := false
	for i := b.top - 1; i >= 0; i-- {
		if strings.HasPrefix(b.screen.text(i), "╌╌╌") {
			if open {
				b.dialog.Body = strings.TrimSpace(strings.Join(lines, "\n"))
				break
			}
			open = true
			continue
		}
		if open {
			lines = append([]string{strings.TrimPrefix(b.screen.text(i), " ")}, lines...)
		}
	}
	return true
}

var tab = regexp.MustCompile(`[☐☒✔] ([^☐☒✔←→]+)`)

// question: headed by its tab or a bar of tabs, and ended by how to choose.
func (b *bottomBlock) question() bool {
	d := b.dialog
	confirm := b.has("Review your answers", "Ready to submit your answers?")
	choose := strings.Contains(b.foot, "Enter to select") && strings.Contains(b.foot, "to navigate")
	if !confirm && !choose || len(d.Options) == 0 {
		return false
	}
	bar, rest := head(b.body())
	for _, m := range tab.FindAllStringSubmatch(bar, -1) {
		if name := strings.TrimSpace(m[1]); name != "Submit" {
			d.Tabs = append(d.Tabs, name)
		}
	}
	if len(d.Tabs) == 0 && !confirm {
		return false
	}
	d.Type, d.Tool, d.Body, d.Confirm = agent.PromptQuestion, toolQuestion, strings.TrimSpace(rest), confirm
	d.Partial = !confirm && !strings.Contains(b.foot, "Esc to cancel")
	if confirm {
		d.Current = len(d.Tabs)
		return true
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

// previews says that the question's options are shown with what they would
// look like: then a digit only moves to one.
func previews(d *agent.Dialog) bool {
	n := len(d.Options)
	return n > 0 && d.Options[n-1].Label == optionChat && d.Options[n-1].Number == 0
}

var (
	asksWhether = regexp.MustCompile(`(?m)^(Do you want to|Would you like to|Allow ).*\?$`)
	fromAgent   = regexp.MustCompile(`^(.*?) · from the (.+) agent$`)
	mcpTool     = regexp.MustCompile(`(?m)^(.+?) - (.+?) \(MCP\)`)
)

// toolOf is the tool whose permission's dialog is headed so.
var toolOf = map[string]string{
	"Bash command": "Bash", "Edit file": "Edit", "Create file": "Write", "Overwrite file": "Write", "Fetch": "WebFetch",
}

// permission: asks whether to, with answers that begin with yes.
func (b *bottomBlock) permission() bool {
	d := b.dialog
	if len(d.Options) < 2 || b.top < 0 || !strings.HasPrefix(d.Options[0].Label, "Yes") || !asksWhether.MatchString(b.body()) {
		return false
	}
	d.Type = agent.PromptPermission
	d.Title, d.Body = head(b.body())
	if m := fromAgent.FindStringSubmatch(d.Title); m != nil {
		d.Title, d.Agent = m[1], m[2]
	}
	d.Tool = toolOf[d.Title]
	if m := mcpTool.FindStringSubmatch(d.Body); d.Tool == "" && m != nil {
		d.Tool = "mcp__" + m[1] + "__" + m[2]
	}
	d.Partial = !strings.HasPrefix(d.Options[len(d.Options)-1].Label, "No")
	return true
}

var leave = regexp.MustCompile(`(?i)\b(esc to (cancel|exit|close|go back|dismiss|return|clear|reject|skip)|enter to (confirm|continue|select|close))`)

// notice: any other dialog: below a rule, ended by how to leave it.
func (b *bottomBlock) notice() bool {
	top := b.screen.top(b.screen.last)
	if top < 0 || top >= b.screen.last || !leave.MatchString(b.screen.text(b.screen.last)) {
		return false
	}
	d := b.dialog
	d.Type = agent.PromptNotice
	title, rest := head(b.screen.join(top+1, b.screen.last-1))
	d.Title, _, _ = strings.Cut(title, "  ")
	d.Body = rest
	return true
}
