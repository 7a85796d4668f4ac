package qwen

import (
	"slices"
	"strings"
	"unicode/utf8"

	"berth/agent"
	"berth/agent/compose"
	"berth/agent/drawn"
	"berth/agent/forks"
	"berth/agent/pattern"
	"berth/terminal"
)

// Screen reads the bottom of the screen. It has either the composer, between two rules, with the footer
// below and the line of work above, or a dialog with the row that Qwen Code waits for it. Text above
// these is the conversation, which can look like anything.
func (Driver) Screen(v *agent.View) *agent.Reading {
	r := &agent.Reading{}
	v = drawn.WithoutScrollbar(v)
	s := &screen{view: v, rows: v.Texts(), last: v.LastRow()}
	if s.last < 0 {
		return r
	}
	if top, bottom, ok := s.composer(); ok {
		r.Composer = s.readComposer(top, bottom)
		r.Footer = v.Words(bottom+1, s.last)
		r.Mode = approvals[approval.Group(r.Footer)]
		s.above(r, top)
		return r
	}
	r.Dialog = s.dialog()
	return r
}

// screen is a View that is being read.
type screen struct {
	view *agent.View
	rows []string
	last int // the last row that isn't blank
}

// approvals are the approval modes by the words of the footer, and the modes' names in the hooks.
var approvals = map[string]string{
	"Ask permissions": "default", "Auto mode": "auto", "auto-accept edits": "auto-edit", "plan mode": "plan", "YOLO mode": "yolo",
}

// approval matches the words in the footer.
var approval = pattern.New(`(Ask permissions|Auto mode|auto-accept edits|plan mode|YOLO mode) *\(shift \+ tab to cycle\)`)

// footerRows is the most rows below the composer: the footer, or the list of a menu.
const footerRows = 16

// isRule reports whether the row is one of the two around the composer: they are as wide as the screen.
func (s *screen) isRule(row string) bool {
	return strings.Trim(row, "─") == "" && terminal.StringWidth(row) == s.view.Cols
}

// composer finds the rules around the composer. Its rows between them are indented, but for the mark of
// the first one, so no draft can draw a rule.
func (s *screen) composer() (top, bottom int, ok bool) {
	bottom = drawn.Up(s.rows, s.last, s.isRule)
	top = drawn.Up(s.rows, bottom-1, s.isRule)
	return top, bottom, bottom >= s.last-footerRows && top >= 0 && top+1 < bottom && forks.Marked(s.rows[top+1], "")
}

// placeholder is what an empty composer shows after the caret.
const placeholder = "  Type your message or @path/to/file"

// readComposer reads the rows between the rules.
func (s *screen) readComposer(top, bottom int) *agent.Composer {
	c, lines, indent := forks.ReadMark(s.rows[top+1:bottom], "")
	caret := s.view.Cursor
	c.Focused = caret.Visible && caret.Row > top && caret.Row < bottom
	atStart := !c.Focused || caret.Row == top+1 && caret.Col == indent
	first := s.view.Lines[top+1]
	// A hint is drawn in a color of its own after the caret, which covers its first column.
	hint := " "+lines[0] == placeholder || lines[0] == placeholder || s.isHint(first, indent)
	compose.Draft(c, lines, atStart, atStart && hint)
	return c
}

// isHint reports whether the row's text after the caret has a color. A draft has the terminal's own.
func (s *screen) isHint(row agent.Row, indent int) bool {
	_, size := utf8.DecodeRuneInString(row.Text[min(indent, len(row.Text)):])
	color, one := row.OneColor(indent + size)
	return one && color != 0 && strings.TrimSpace(row.Text[min(indent+size, len(row.Text)):]) != ""
}

// toCancel is at the end of the line of work.
const toCancel = "esc to cancel"

// toRetry is at the end of an error while it is the last turn's. Esc removes a message from the screen, and
// an earlier error may be the last line then.
const toRetry = "(Press Ctrl+Y to retry)"

// Marks in the conversation, in its third column.
const (
	failureMark = "  ✕ "
	replyMark   = "  ◆"
	messageMark = "  > "
)

// reach is how many rows above the composer the line of work and the queued messages are.
const reach = 12

// above reads the rows above the composer: the queued messages, the line of work, and the end of the
// conversation.
func (s *screen) above(r *agent.Reading, top int) {
	works := func(row string) bool { return strings.HasPrefix(row, "  ") && forks.Spins(row[len("  "):]) }
	if i := drawn.Up(s.rows, top-1, works); i >= 0 && i > top-reach {
		r.Busy = strings.TrimSpace(s.rows[i])
		r.Queued = drawn.Filled(slices.DeleteFunc(slices.Clone(s.rows[i+1:top]), func(row string) bool { return strings.Contains(row, toCancel) }))
		return
	}
	over := func(row int) bool {
		return strings.HasPrefix(s.rows[row], replyMark) || strings.HasPrefix(s.rows[row], messageMark)
	}
	if text, now := strings.CutSuffix(forks.Failed(s.rows[:top], failureMark, over), toRetry); now {
		r.Failed = failure("", strings.TrimSpace(text))
	}
}
