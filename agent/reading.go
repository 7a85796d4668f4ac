package agent

// Reading is what a driver makes of a View: the structure at the bottom of the
// screen, where an agent has its composer or its dialog.
type Reading struct {
	Composer *Composer
	Dialog   *Dialog
	Busy     string // what shows that it works: the spinner's line, a footer; empty when nothing does
	Retry    *Activity
	Footer   string
	Stashed  bool // a draft is put aside
	// Queued are the messages that the agent keeps for the end of the turn, each
	// as far as it is shown.
	Queued []string
	// Failed is an error that stands at the end of the conversation, for agents
	// that tell of errors in no other way.
	Failed *Failure
	Hook   bool // it waits for one of its hooks
	// Clear: the screen surely shows no dialog, though it may show no composer either. An agent
	// that draws no composer while it works sets it then: without it, and without a report of
	// the message, a nudge isn't confirmed.
	Clear bool
	// Guess: that it works is guessed, since nothing else is seen.
	Guess bool
}

// Bare says that the screen shows the composer and neither a dialog nor work, nor
// messages that will be work.
func (r *Reading) Bare() bool {
	return r != nil && r.Composer != nil && r.Dialog == nil && r.Busy == "" && len(r.Queued) == 0
}

// ComposerMode is what the composer would do with a text.
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
	Empty   bool   // nothing typed: blank, or a placeholder
	Hint    string // the placeholder
	Text    string // what is typed, lines joined with \n as the screen shows them
	Above   bool   // more of it stands above what is shown: Text is its end
	Blank   int    // empty lines behind what is typed
	Focused bool   // it shows its caret
}

// Dialog is a question drawn on the screen.
type Dialog struct {
	Type    PromptType
	Subtype string
	Title   string
	Body    string // what it says, lines joined with \n
	// Question is what it asks, and Asked what the tool would do, where the dialog
	// sets that apart: both as they were before they were broken into rows, as far as
	// that can be known.
	Question, Asked string
	// Cut: a part of it has no room on the screen, so what it asks about may be more
	// than it shows.
	Cut     bool
	Agent   string // type of the subagent that asks
	Tool    string // the tool, where the dialog tells
	Options []Option
	Fields  []Field // of a form
	URL     string  // to be opened somewhere
	Input   string  // what was typed into its only field, as it shows it
	// Of several questions asked at once: their headers, and which is shown,
	// len(Tabs) on the page that confirms.
	Tabs    []string
	Current int
	Tab     int  // number of the tab that is shown, from 1; 0 where it does not tell
	Confirm bool // the page that confirms
	Partial bool // it is painted, but not to its end
	Place   int  // which of several dialogs it is that come one after the other, where it tells; 0: it does not
	// Key tells it from another where the fields above do not; empty: they do.
	Key string
	// Rows are those between its title and what it asks, as they are drawn: what it
	// shows of what the tool would do. Cols and Height are the screen's size, and Dir is
	// the folder that the session began in: paths may be shown from there.
	Rows         []DrawnRow
	Cols, Height int
	Dir          string
	// Sections are for agents that redraw a dialog when the screen's size changes: the rows of its
	// subject without their frame, and then the text about the subject. If nil, Body counts.
	Sections []string
	// Alike: the dialog shows too little of its subject; another dialog may look the same.
	Alike bool
	// AfterTurn: it asks about the turn that has just ended, and outlasts it.
	AfterTurn bool
	Lines     []string
}

// DrawnRow is a row of a dialog: its text with its indent, and the color of that,
// where it is one.
type DrawnRow struct {
	Text     string
	Color    uint32
	OneColor bool
}

// Drawn is a row of the screen as a dialog has it.
func Drawn(r Row) DrawnRow {
	d := DrawnRow{Text: r.Text}
	d.Color, d.OneColor = r.OneColor(0)
	return d
}

// Match says how much of what a prompt asks about a dialog shows.
type Match int

// How much of it, in order.
const (
	NoMatch Match = iota // it shows something else, or more, or only a beginning of it
	// PartMatch: all that it shows is of it, and there is more that it does not show;
	// or nobody knows how the agent draws such a thing.
	PartMatch
	// AlikeMatch: all of it is drawn, and another text would be drawn the same: where a
	// row ends for want of space there may be a blank, a line break or nothing.
	AlikeMatch
	WholeMatch // it shows all of it, and nothing else
)

// Option is one line of a dialog that can be chosen.
type Option struct {
	Number   int    // what it is chosen by, 0 when it has no number
	Key      string // the same where that is no number
	Label    string
	More     string // what is below it: the rest of a label that has no room, a description
	Focused  bool
	Multiple bool // one of several that can be ticked
	Ticked   bool // such a one, or the one chosen before
}

// Field is one line of a form.
type Field struct {
	Label   string
	Value   string // as it is shown, lines joined with \n; empty while not set
	Set     bool   // it has a value, which is accepted
	Wrong   bool   // what it holds, or that it holds nothing, is not accepted
	Missing bool   // it has to have a value, and has none yet
	Focused bool
	List    []Option // what can be chosen, while that is shown

	Explained string // the text below it, lines begun with \n
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

// OnlyOption is the number of the option for which is returns true, from 1. It is 0 when no option
// or several are so.
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
