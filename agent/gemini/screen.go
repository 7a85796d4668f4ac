package gemini

import (
	"strings"

	"berth/agent"
	"berth/agent/compose"
	"berth/agent/drawn"
	"berth/agent/forks"
)

// Screen reads the bottom of the screen. It has either the composer, between two rows of half
// blocks, with the footer below and the line of work above, or a dialog: a box that ends the
// screen. Text above these is the conversation, which can look like anything.
func (Driver) Screen(v *agent.View) *agent.Reading {
	r := &agent.Reading{}
	s := screen{view: v, last: v.LastRow()}
	if s.last < 0 {
		return r
	}
	s.dropCopy()
	if top, bottom, ok := s.composer(); ok {
		if s.bare(top) {
			return r
		}
		r.Composer = readComposer(v.Lines[top+1 : bottom])
		r.Footer = v.Words(bottom+1, s.last)
		s.above(r, top)
		return r
	}
	r.Dialog = s.dialog()
	return r
}

// screen is a View that is being read.
type screen struct {
	view *agent.View
	last int // the last row that isn't blank
}

func (s *screen) text(row int) string { return s.view.Lines[row].Text }

// The rows of half blocks around the composer, and around each sent message; and the rule above the
// composer. Where COLORTERM promises no true color, these rows are blank with a background instead.
const (
	upperEdge = "▄▄▄"
	lowerEdge = "▀▀▀"
	rule      = "───"
)

// footerRows is the most rows of the screen below the composer.
const footerRows = 4

// dropCopy leaves the last rows out when they are a copy of the lower edge and the footer right
// above them. Gemini leaves such a copy when it draws a frame that is lower than the one before,
// after an answer that is taller than the window. Only a composer may follow the conversation, so
// no text of the conversation can be the upper copy: the composer's own rows would be between.
func (s *screen) dropCopy() {
	edge := s.last
	for ; !s.isLower(edge); edge-- {
		if edge == 0 || edge == s.last-footerRows {
			return
		}
	}
	rows := s.last - edge + 1
	end := edge - 1 // of the copy above
	for ; end >= rows && strings.TrimSpace(s.text(end)) == ""; end-- {
	}
	for i := range rows {
		if end-i < 0 || s.text(end-i) != s.text(s.last-i) {
			return
		}
	}
	s.last = end
}

// composer finds the rows of the composer's edges. A sent message has the same edges, but no footer
// below it and no caret in it.
func (s *screen) composer() (top, bottom int, ok bool) {
	bottom = -1
	for i := s.last; i >= max(0, s.last-footerRows); i-- {
		if s.isLower(i) {
			bottom = i
			break
		}
	}
	if bottom < 0 {
		return 0, 0, false
	}
	caret, filled := false, s.isFilled(bottom)
	for i := bottom - 1; i >= 0; i-- {
		// A draft may have blank rows, too.
		if upper := strings.HasPrefix(s.text(i), upperEdge) || filled && (i == 0 || s.view.Lines[i-1].Filled == 0); !upper {
			_, _, inverse := s.view.Lines[i].Inverse()
			caret = caret || inverse
			continue
		}
		return i, bottom, i+1 < bottom && forks.Marked(s.text(i+1), " ") && (caret || s.isFooter(bottom+1))
	}
	return 0, 0, false
}

// isLower reports whether the row may be the lower edge of the composer or of a sent message.
func (s *screen) isLower(row int) bool {
	return strings.HasPrefix(s.text(row), lowerEdge) || s.isFilled(row)
}

// isFilled reports whether the row is blank with a background.
func (s *screen) isFilled(row int) bool { return s.view.Lines[row].Filled > 0 && s.text(row) == "" }

// isFooter reports whether the rest of the screen is the footer: rows that start with exactly one
// blank. Text of the model or a tool has none, or more.
func (s *screen) isFooter(from int) bool {
	some := false
	for i := from; i <= s.last; i++ {
		text := s.text(i)
		if strings.TrimSpace(text) == "" {
			continue
		}
		if some = true; !strings.HasPrefix(text, " ") || strings.HasPrefix(text, "  ") {
			return false
		}
	}
	return some
}

// bareRows is the row of the line of work when nothing is drawn above it.
const bareRows = 3

// bare reports whether nothing is drawn above the line of work. Gemini hasn't read its
// configuration then, and keeps each message until it has. After that its banner or the
// conversation is there.
func (s *screen) bare(top int) bool {
	i := top - 1
	for ; i >= 0 && strings.TrimSpace(s.text(i)) != ""; i-- { // the rule, and the line of work
	}
	if i < 0 || i >= bareRows {
		return false
	}
	for ; i >= 0; i-- {
		if strings.TrimSpace(s.text(i)) != "" {
			return false
		}
	}
	return true
}

// readComposer reads the rows between the edges.
func readComposer(rows []agent.Row) *agent.Composer {
	texts := make([]string, len(rows))
	caretRow, caretAt := -1, -1
	for i, row := range rows {
		texts[i] = row.Text
		if at, _, ok := row.Inverse(); ok && caretRow < 0 {
			caretRow, caretAt = i, at
		}
	}
	c, lines, indent := forks.ReadMark(texts, " ")
	caretFirst := caretRow == 0 && caretAt == indent
	c.Focused = caretRow >= 0
	compose.Draft(c, lines, caretRow < 0 || caretFirst, isHint(lines[0], c.Focused, caretFirst))
	return c
}

// The placeholders: the measured one, and how all of them are drawn: two blanks, the caret on the
// first. A draft that starts like this, with the caret there, looks the same; text typed before it
// shows the difference.
const placeholder = "  Type your message or @path/to/file"

func isHint(text string, focused, caretFirst bool) bool {
	return caretFirst && strings.HasPrefix(text, "  ") || !focused && text == placeholder
}

// statusRows is the most rows above the rule that may belong to the line of work.
const statusRows = 3

// The end of the line of work, and the head of the queued messages.
const (
	toCancel = "(esc to cancel"
	queueRow = "  Queued (press ↑ to edit):"
)

// above reads the rows above the composer: the rule; above it the line of work, which a redraw may
// cut to its end; above that the queued messages and the end of the conversation.
func (s *screen) above(r *agent.Reading, top int) {
	at := top - 1
	for ; at >= 0 && at > top-footerRows && !strings.HasPrefix(s.text(at), rule); at-- {
	}
	if at < 0 || !strings.HasPrefix(s.text(at), rule) {
		at = top
	}
	r.Mode = s.mode(at+1, top-1)
	i := at - 1
	for ; i >= 0 && i >= at-statusRows && strings.TrimSpace(s.text(i)) != ""; i-- {
		if text := s.text(i); strings.HasPrefix(text, " ") && forks.Spins(text[1:]) || strings.Contains(text, toCancel) {
			r.Busy = strings.TrimSpace(text)
		}
	}
	r.Queued = s.queued(i)
	r.Failed = s.failed(i)
}

// queued are the messages that Gemini keeps for the end of the turn, the first row of each.
func (s *screen) queued(from int) []string {
	const reach = 12
	for i := from; i >= 0 && i > from-reach; i-- {
		if !strings.HasPrefix(s.text(i), queueRow) {
			continue
		}
		return drawn.Filled(s.view.Texts()[i+1 : from+1])
	}
	return nil
}

// failed is the error after the last message, if no text of the model comes after it.
func (s *screen) failed(from int) *agent.Failure {
	text := forks.Failed(s.view.Texts()[:from+1], failureMark, func(row int) bool {
		return s.isLower(row) || strings.HasPrefix(s.text(row), "✦") || strings.HasPrefix(s.text(row), "╰")
	})
	if text == "" {
		return nil
	}
	return failure(text)
}
