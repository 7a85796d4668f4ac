package agent

import "strings"

// Reading is what a driver reads from a View: the structure at the bottom of the screen, where an
// agent draws its composer or its dialog.
type Reading struct {
	Composer *Composer
	Dialog   *Dialog
	Busy     string // text that shows work: the spinner's line, a footer; empty without any
	Retry    *Activity
	Footer   string
	Mode     string // what the agent may do unasked, as the footer shows it (see Fact.Mode); empty if it doesn't
	Thread   Thread // whose conversation is open, if the screen shows that
	Stashed  bool   // a draft is stashed
	GoesOn   bool   // after a limit the agent goes on by itself
	// Queued are the messages that the agent keeps for the end of the turn, as far as the screen
	// shows them.
	Queued []string
	// Failed is an error at the end of the conversation. Only drivers of agents without another
	// report of errors set it.
	Failed *Failure
	Hook   bool // the agent waits for one of its hooks
	// Clear: the screen surely shows no dialog, though it may show no composer either. An agent
	// that draws no composer while it works sets it then: without it, and without a report of
	// the message, a nudge isn't confirmed.
	Clear bool
	// Guess: Busy is a guess, because the screen shows neither work nor a composer, or because it
	// may be about the turn before. It starts a turn only if it is newer than the last turn's end.
	Guess bool
}

// Bare reports whether the screen shows the composer and nothing else: no dialog, no work and no
// queued message, which would soon be work.
func (r *Reading) Bare() bool {
	return r != nil && r.Composer != nil && r.Dialog == nil && r.Busy == "" && len(r.Queued) == 0
}

// Thread says whose conversation an agent shows that has several.
type Thread string

// The threads that may be open.
const (
	ThreadMain  Thread = "main"
	ThreadOther Thread = "other" // a subagent's
)

// ComposerMode is what the composer does with a text.
type ComposerMode string

// The modes of a composer.
const (
	ModeMessage ComposerMode = "message"
	ModeShell   ComposerMode = "shell"
	ModeSearch  ComposerMode = "search"
)

// Composer is the box that messages are typed into.
type Composer struct {
	Mode    ComposerMode
	Empty   bool   // no text: blank, or a placeholder
	Hint    string // the placeholder
	Text    string // the typed text, lines joined with \n as the screen shows them
	Above   bool   // the composer has more rows than it shows: Text is only the end
	Blank   int    // empty lines after the typed text
	Focused bool   // the composer shows its caret
}

// Dialog is a question drawn on the screen.
type Dialog struct {
	Type    PromptType
	Subtype string
	Title   string
	Body    string // its text, lines joined with \n
	// Question is what the dialog asks; Asked is what the tool would do. They are set if the dialog
	// separates them, and their lines are joined as they were before the agent wrapped them, as far
	// as the screen shows that.
	Question, Asked string
	// Cut: a part of the dialog has no room on the screen, so it may ask about more than it shows.
	Cut     bool
	Agent   string // type of the subagent that asks
	Tool    string // the tool, if the dialog names it
	Options []Option
	// Short: the list has more options than the screen has room for. Options are those that are
	// drawn whole, from the first.
	Short  bool
	Fields []Field // of a form
	URL    string  // to be opened in a browser
	Input  string  // the text typed into its only field, as it shows it
	// Tabs are the headers of several questions that are asked at once. Current is the index of the
	// shown one, or len(Tabs) on the review page.
	Tabs    []string
	Current int
	Tab     int  // number of the shown tab, from 1; 0 if the dialog doesn't show it
	Confirm bool // the review page, where answers are confirmed
	Partial bool // the dialog is drawn only in part so far
	Place   int  // position among dialogs that follow each other; 0 if the dialog doesn't show it
	// Key identifies the dialog where the fields above can't. It is empty where they can.
	Key string
	// Rows are the drawn rows that show what the tool would do, between the title and the question.
	// Cols and Height are the screen's size. Dir is the folder that the session started in: an
	// agent may show paths relative to it.
	Rows         []DrawnRow
	Cols, Height int
	Dir          string
	// Sections are for agents that redraw a dialog when the screen's size changes: the rows of its
	// subject without their frame, and then the text about the subject. If nil, Body counts.
	Sections []string
	// Alike: the dialog shows too little of its subject; another dialog may look the same.
	Alike bool
	// AfterTurn: the dialog asks about the turn that has just ended, and stays open after it.
	AfterTurn bool
	Lines     []string
}

// DrawnRow is a row of a dialog: its text with its indent, and its color if it has only one.
type DrawnRow struct {
	Text     string
	Color    uint32
	OneColor bool
}

// Drawn converts a row of the screen to a dialog's row.
func Drawn(r Row) DrawnRow {
	d := DrawnRow{Text: r.Text}
	d.Color, d.OneColor = r.OneColor(0)
	return d
}

// Match says how much of a prompt's subject a dialog shows.
type Match int

// The matches, from least to most.
const (
	NoMatch Match = iota // the dialog shows something else, or more than the subject, or only the start of it
	// PartMatch: the dialog shows only parts of the subject, or it isn't known how the agent draws
	// such a subject.
	PartMatch
	// AlikeMatch: the dialog shows all of the subject, and another subject would be drawn the same:
	// at a wrapped row's end there may be a blank, a line break or nothing.
	AlikeMatch
	WholeMatch // the dialog shows all of the subject, and nothing else
)

// Option is one choice of a dialog.
type Option struct {
	Number   int    // the digit that chooses it; 0 when it has none
	Key      string // the key that chooses it, when that isn't a digit
	Label    string
	More     string // the rows below it: the rest of a long label, or a description
	Focused  bool
	Multiple bool // a checkbox
	Ticked   bool // the checkbox is ticked, or this is the option chosen before
}

// Heading is the label with what may be the rest of it: a label can have colons, and no dialog shows
// where it ends. It changes with a value that has a colon.
func (f *Field) Heading() string {
	if at := strings.LastIndex(f.Value, ": "); at >= 0 {
		return f.Label + ": " + f.Value[:at]
	}
	return f.Label
}

// Field is one line of a form.
type Field struct {
	Label   string
	Value   string // as it is shown, lines joined with \n; empty while not set
	Set     bool   // it has a valid value
	Wrong   bool   // its value, or that it has none, isn't accepted
	Missing bool   // it needs a value, and has none yet
	Focused bool
	List    []Option // the choices, while they are shown

	Explained string // the text below it; each line starts with \n
}

// Labels are the options' texts in their order.
func (d *Dialog) Labels() []string {
	out := make([]string, 0, len(d.Options))
	for _, o := range d.Options {
		out = append(out, o.Label)
	}
	return out
}

// Focused is the number of the preselected option, from 1; 0 for none.
func (d *Dialog) Focused() int {
	for i, o := range d.Options {
		if o.Focused {
			return i + 1
		}
	}
	return 0
}

// SameAs reports whether the dialog is complete and equal to seen, options included. A nil
// dialog equals none.
func (d *Dialog) SameAs(seen *Dialog) bool {
	if d == nil || d.Partial || d.Type != seen.Type || d.Subtype != seen.Subtype || d.Title != seen.Title ||
		d.Body != seen.Body || d.Confirm != seen.Confirm || len(d.Options) != len(seen.Options) {
		return false
	}
	for i, o := range d.Options {
		if o.Number != seen.Options[i].Number || o.Label != seen.Options[i].Label {
			return false
		}
	}
	return true
}

// OnlyOption is the number, from 1, of the only option that is returns true for. It is 0 for none
// or several.
func (d *Dialog) OnlyOption(is func(Option) bool) int {
	found := 0
	for i, o := range d.Options {
		if !is(o) {
			continue
		}
		if found > 0 {
			return 0
		}
		found = i + 1
	}
	return found
}
