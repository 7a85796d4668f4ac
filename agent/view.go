package agent

import "strings"

// View is a screen as drivers read it: text, and of its looks what carries
// meaning. Its rows are shared and never change.
type View struct {
	Cols, Rows int
	Lines      []Row // Rows of them
	Cursor     Caret
	Alt        bool // the alternate screen
	Title      string
}

// Caret is the terminal's cursor, from 0.
type Caret struct {
	Row, Col int
	Visible  bool
}

// Row is a line of the screen. Text has no blanks at its end, except inverse ones. Spans are
// the stretches that are inverse, dim, bold or colored.
//
// Wrapped: the terminal broke the row above, since it was full. Agents break rows themselves, so the
// text is wider than the agent took it for, and begins in a column that is not its own. A line feed
// that only passes the row ends that, as when an agent draws what is above anew.
//
// Full: the row is written to the last column.
type Row struct {
	Text    string
	Spans   []Span
	Wrapped bool
	Full    bool
}

// Span is a stretch of a row's text, by byte offsets.
type Span struct {
	From, To     int
	Dim, Inverse bool
	Bold         bool
	Color        uint32 // of the text, 0 for the terminal's own
}

// Inverse is where the row's first inverse stretch begins and ends, ok false
// when there is none.
func (r Row) Inverse() (from, to int, ok bool) {
	for _, s := range r.Spans {
		if s.Inverse {
			return s.From, s.To, true
		}
	}
	return 0, 0, false
}

// Dim says whether all of the row's text from byte offset from on that is not
// blank is dim.
func (r Row) Dim(from int) bool {
	for i := from; i < len(r.Text); i++ {
		if c := r.Text[i]; c == ' ' {
			continue
		}
		if !r.dimAt(i) {
			return false
		}
	}
	return true
}

// Bold says whether the row has text and all of it, blanks aside, is bold.
func (r Row) Bold() bool {
	bold := 0
	for _, s := range r.Spans {
		if s.Bold {
			bold += len(strings.ReplaceAll(r.Text[s.From:min(s.To, len(r.Text))], " ", ""))
		}
	}
	return bold > 0 && bold == len(strings.ReplaceAll(r.Text, " ", ""))
}

func (r Row) dimAt(i int) bool {
	for _, s := range r.Spans {
		if i >= s.From && i < s.To {
			return s.Dim
		}
	}
	return false
}

// OneColor is the color of all of the row's text from byte offset from on that is
// not blank; ok is false where there are several.
func (r Row) OneColor(from int) (color uint32, ok bool) {
	first := true
	for i := from; i < len(r.Text); i++ {
		if r.Text[i] == ' ' {
			continue
		}
		c := r.ColorAt(i)
		if !first && c != color {
			return 0, false
		}
		color, first = c, false
	}
	return color, true
}

// ColorAt is the color of the character at byte offset i, 0 for the terminal's own.
func (r Row) ColorAt(i int) uint32 {
	for _, s := range r.Spans {
		if i >= s.From && i < s.To {
			return s.Color
		}
	}
	return 0
}

// LastRow is the last row that isn't blank; -1 for an empty screen.
func (v *View) LastRow() int {
	for i := len(v.Lines) - 1; i >= 0; i-- {
		if strings.TrimSpace(v.Lines[i].Text) != "" {
			return i
		}
	}
	return -1
}

// Text joins the rows from..to without blanks at their ends and without empty rows at the
// text's start and end.
func (v *View) Text(from, to int) string {
	var lines []string
	for i := max(from, 0); i <= to; i++ {
		lines = append(lines, strings.TrimSpace(v.Lines[i].Text))
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}
