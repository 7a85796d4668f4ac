package agent

import (
	"slices"
	"strings"
)

// View is a screen as drivers read it: its text, and the attributes that carry meaning. Its rows
// are shared and never change.
type View struct {
	Cols, Rows int
	Lines      []Row // as many as Rows
	Cursor     Caret
	Alt        bool // the alternate screen
	Title      string
}

// Caret is the terminal's cursor; rows and columns count from 0.
type Caret struct {
	Row, Col int
	Visible  bool
}

// Row is a line of the screen. Text has no blanks at its end, except inverse ones. Spans are the
// stretches that are inverse, dim, bold or colored.
//
// Wrapped: the terminal wrapped the row above, because it was full. Agents wrap rows themselves, so
// the text is wider than the agent measured, and this row starts in a column that the agent didn't
// choose. A line feed that passes the row clears it, for example when an agent redraws what is
// above.
//
// Full: the row is written to the last column.
//
// Filled is how many columns, from the first one, have the same background, which isn't the terminal's own.
type Row struct {
	Text    string
	Spans   []Span
	Wrapped bool
	Full    bool
	Filled  int
}

// Span is a stretch of a row's text, by byte offsets.
type Span struct {
	From, To     int
	Dim, Inverse bool
	Bold         bool
	Color        uint32 // of the text; 0 for the terminal's default
}

// Inverse returns where the row's first inverse stretch starts and ends. ok is false without one.
func (r Row) Inverse() (from, to int, ok bool) {
	for _, s := range r.Spans {
		if s.Inverse {
			return s.From, s.To, true
		}
	}
	return 0, 0, false
}

// Dim reports whether all text from byte offset from is dim, apart from blanks.
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

// Bold reports whether the row has text and all of it, apart from blanks, is bold.
func (r Row) Bold() bool {
	bold := 0
	for _, s := range r.Spans {
		if s.Bold {
			bold += len(strings.ReplaceAll(r.Text[s.From:min(s.To, len(r.Text))], " ", ""))
		}
	}
	return bold > 0 && bold == len(strings.ReplaceAll(r.Text, " ", ""))
}

// BoldIn reports whether there is text between two byte offsets, and all of it is bold, apart from blanks.
func (r Row) BoldIn(from, to int) bool {
	for i := from; i < to; i++ {
		if r.Text[i] != ' ' && !slices.ContainsFunc(r.Spans, func(s Span) bool { return s.Bold && i >= s.From && i < s.To }) {
			return false
		}
	}
	return from < to
}

func (r Row) dimAt(i int) bool {
	for _, s := range r.Spans {
		if i >= s.From && i < s.To {
			return s.Dim
		}
	}
	return false
}

// OneColor is the color of all text from byte offset from, apart from blanks. ok is false if there
// are several colors.
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

// ColorAt is the color of the character at byte offset i; 0 for the terminal's default.
func (r Row) ColorAt(i int) uint32 {
	for _, s := range r.Spans {
		if i >= s.From && i < s.To {
			return s.Color
		}
	}
	return 0
}

// LastRow is the index of the last row that isn't blank; -1 for an empty screen.
func (v *View) LastRow() int { return v.LastUpTo(len(v.Lines) - 1) }

// LastUpTo is the index of the last row that isn't blank, not below row; -1 without one.
func (v *View) LastUpTo(row int) int {
	for row >= 0 && strings.TrimSpace(v.Lines[row].Text) == "" {
		row--
	}
	return row
}

// From is the row from a byte offset on.
func (r Row) From(from int) Row {
	out := r
	out.Text, out.Spans = r.Text[from:], nil
	for _, s := range r.Spans {
		if s.From, s.To = max(s.From-from, 0), s.To-from; s.To > 0 {
			out.Spans = append(out.Spans, s)
		}
	}
	return out
}

// Text joins the rows from..to. It removes blanks at their ends, and empty rows at the text's start
// and end.
func (v *View) Text(from, to int) string {
	var lines []string
	for i := max(from, 0); i <= to; i++ {
		lines = append(lines, strings.TrimSpace(v.Lines[i].Text))
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// Words joins the rows from..to that aren't blank, without blanks at their ends.
func (v *View) Words(from, to int) string {
	var lines []string
	for i := max(from, 0); i <= to; i++ {
		if text := strings.TrimSpace(v.Lines[i].Text); text != "" {
			lines = append(lines, text)
		}
	}
	return strings.Join(lines, "\n")
}

// Texts are the texts of the rows.
func (v *View) Texts() []string {
	texts := make([]string, len(v.Lines))
	for i, row := range v.Lines {
		texts[i] = row.Text
	}
	return texts
}
