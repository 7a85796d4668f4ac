package copilot

import (
	"slices"
	"strings"

	"berth/agent"
	"berth/agent/drawn"
	"berth/agent/forks"
	"berth/agent/pattern"
	"berth/terminal"
)

// Phrases of dialogs, and the tools that they are about.
const (
	askTrust    = "Do you trust the files in this folder?"
	askForm     = "Copilot needs information."
	askCommand  = "Do you want to run this command?"
	askServer   = "Do you want to use this tool?"
	askPath     = "Do you want to allow this?"
	askURL      = "Do you want to allow this access?"
	titleCreate = "Create file"
	refusal     = "No, and tell Copilot what to do differently (Esc to stop)"
	refusalEnds = " (Esc to stop)"
	otherAnswer = "Other (type your answer)"
)

var questions = forks.Titles{
	{askCommand, toolShell}, {"Do you want to create ", toolCreate}, {"Do you want to edit ", toolEdit},
}

// dialog reads the dialog at the bottom of a screen without a composer: a box, or a form between two
// rules. It is nil if there is none, or if it isn't drawn completely.
func (s *screen) dialog() *agent.Dialog {
	rows, whole, boxed := s.frame()
	if rows == nil {
		return nil
	}
	d := &agent.Dialog{Lines: rows, Cols: s.view.Cols, Height: s.view.Rows, Cut: !whole}
	if boxed {
		return box(d)
	}
	return form(d)
}

// headRows are the rows at the top of the screen, with the names of Copilot's pages. What has no room
// ends below them.
const headRows = 2

// frame returns the rows of the frame that ends the screen. whole is false when its upper side has
// left the screen, or when the terminal broke a row: a text that is wider than Copilot reckons goes on in the
// first column, where it can draw the side of a box.
func (s *screen) frame() (rows []string, whole, boxed bool) {
	side, edge := "", "─"
	if strings.HasPrefix(s.text(s.last), "╰─") {
		side, edge, boxed = "│", "╭─", true
	} else if !s.rule(s.last) {
		return nil, false, false
	}
	rows = []string{}
	broken := s.view.Lines[s.last].Wrapped
	for i := s.last - 1; i >= headRows; i-- {
		text := s.text(i)
		broken = broken || s.view.Lines[i].Wrapped
		switch {
		case boxed && strings.HasPrefix(text, edge), !boxed && s.rule(i) && len(rows) > 0 && strings.HasPrefix(rows[0], " "+askForm):
			return rows, !broken, boxed
		case boxed && !strings.HasPrefix(text, side):
			return nil, false, boxed
		}
		if boxed {
			broken = broken || !strings.HasSuffix(text, side)
			text = strings.TrimSuffix(strings.TrimPrefix(text, side), side)
		}
		rows = slices.Insert(rows, 0, strings.TrimRight(text, " "))
	}
	return rows, false, boxed
}

// rule reports whether the row is a line from the first to the last column.
func (s *screen) rule(row int) bool {
	return strings.Trim(s.text(row), "─") == "" && terminal.StringWidth(s.text(row)) >= s.view.Cols
}

// optionRow matches the first row of an option. Where the box has no room for all, Copilot indents
// each by one column less.
var optionRow = pattern.New(`^ (❯ | {1,2})(\d)\. (\S.*)$`)

// ofFolder matches the folder at the end of an option.
var ofFolder = pattern.New(` \([~/][^()]*\)$`)

// Keys that the last rows name. They may be wrapped.
const (
	boxKeys  = "enter to select · esc to cancel"
	formKeys = "ctrl+d decline · esc cancel"
)

// flat joins rows with one blank between words.
func flat(rows []string) string { return strings.Join(strings.Fields(strings.Join(rows, " ")), " ") }

// box reads a dialog with numbered options.
func box(d *agent.Dialog) *agent.Dialog {
	end := drawn.Foot(d.Lines, boxKeys)
	if end < 0 {
		return nil
	}
	first := options(d, d.Lines[:end])
	if first < 0 || d.Focused() == 0 {
		return nil
	}
	asks := drawn.Paragraph(d.Lines, max(first-1, 0))
	d.Type, d.Title = agent.PromptPermission, flat(d.Lines[asks:first])
	rows := d.Lines[:asks]
	d.Body = strings.ReplaceAll(text(rows), "\u00a0", " ") // blanks of a file's lines
	if d.Title == askTrust {
		d.Subtype = agent.SubtypeTrust
		return d
	}
	last := &d.Options[len(d.Options)-1]
	if !strings.HasPrefix(last.Label, "No") { // it takes words, which replace its label
		words, ok := strings.CutSuffix(last.Label, strings.TrimSpace(refusalEnds))
		if !ok || !last.Focused {
			return nil
		}
		d.Input, last.Label = strings.TrimSpace(words), refusal
	}
	d.Tool = questions.Tool(d.Title)
	if d.Alike = d.Tool != toolShell; d.Alike {
		d.Title = drawn.Stacked(d.Lines[asks:first])
	} else {
		d.Sections, d.Question = drawn.InnerBox(rows)
		d.Asked = strings.Join(d.Sections, "\n")
	}
	return d
}

// options reads the numbered options that end the rows, and returns the index of the row of the first one; -1 if
// they don't count up from 1. A label may continue on the next rows, and no row between them is blank.
func options(d *agent.Dialog, rows []string) int {
	end := drawn.Up(rows, len(rows)-1, func(row string) bool { return !drawn.Blank(row) }) + 1
	top := drawn.Paragraph(rows, end)
	rows = rows[top:end]
	list := drawn.Numbered(rows, func(row string) []agent.Option {
		if m := optionRow.FindStringSubmatch(row); m != nil {
			return []agent.Option{{Number: pattern.Number(m[2]), Focused: m[1] == "❯ ", Label: m[3]}}
		}
		return nil
	}, nil)
	if !list.Whole() {
		return -1
	}
	for i := range list.Options {
		o, to := &list.Options[i], len(rows)
		if i+1 < len(list.At) {
			to = list.At[i+1]
		}
		names := strings.Split(drawn.Stacked(slices.Insert(slices.Clone(rows[list.At[i]+1:to]), 0, o.Label)), "`")
		for k := 0; k < len(names); k += 2 { // Copilot's own words, between the names of commands
			names[k] = strings.ReplaceAll(names[k], "\n", " ")
		}
		o.Label = strings.Join(names, "`")
		if at := ofFolder.FindStringIndex(o.Label); at != nil { // a row's end may be within it
			o.Label = o.Label[:at[0]] + " " + drawn.Squeeze(o.Label[at[0]:])
		}
	}
	d.Options = list.Options
	return top + list.At[0]
}

// text joins rows without the empty ones at the ends.
func text(rows []string) string { return strings.Trim(strings.Join(rows, "\n"), "\n") }

// choiceRow matches an option of a form, which has no number.
var choiceRow = pattern.New(`^ (❯ |  )(\S.*)$`)

// form reads the form of ask_user. One field with a choice is a question: its title is the field's name, with what
// is said about the field. Anything else is a notice, which can be declined: Berth fills in no form of Copilot.
func form(d *agent.Dialog) *agent.Dialog {
	end := drawn.Foot(d.Lines, formKeys)
	if end < 0 {
		return nil
	}
	d.Type, d.Title, d.Body = agent.PromptNotice, askForm, text(d.Lines[:end])
	d.Key = strings.Join([]string{askForm, d.Body}, "\x00")
	first := drawn.Paragraph(d.Lines, end-1)
	paragraph := d.Lines[max(first, 0):max(end-1, 0)]
	var list []agent.Option
	marks := 0 // a label of several lines may draw the mark too
	at := 1 + slices.IndexFunc(paragraph[min(1, len(paragraph)):], choiceRow.MatchString)
	for _, row := range paragraph[at:] {
		if m := choiceRow.FindStringSubmatch(row); m != nil {
			if m[1] == "❯ " {
				marks++
			}
			list = append(list, agent.Option{Focused: m[1] == "❯ ", Label: m[2]})
		} else if n := len(list); n > 0 {
			list[n-1].Label += " " + strings.TrimSpace(row)
		}
	}
	single := strings.HasPrefix(flat(d.Lines[end:]), "↑/↓ select · enter accept · ctrl+d")
	if d.Cut || !single || marks > 1 || len(list) < 2 || list[len(list)-1].Label != otherAnswer {
		return d
	}
	// The model chooses the field's name, and may ask by it.
	d.Type, d.Options, d.Title = agent.PromptQuestion, list[:len(list)-1], strings.TrimSuffix(flat(paragraph[:at]), ":")
	d.Tabs, d.Body = []string{d.Title}, flat(d.Lines[1:max(first-1, 1)])
	d.Key = strings.Join(append([]string{askForm, d.Title, d.Body}, d.Labels()...), "\x00")
	return d
}
