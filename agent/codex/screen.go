package codex

import (
	"slices"
	"strings"

	"berth/agent"
	"berth/agent/pattern"
)

// Screen reads the bottom of the screen. It has either the composer, which has the caret, with its
// footer below and the line of work above, or a dialog without a caret. Text above these is the
// conversation, which can look like anything.
func (Driver) Screen(v *agent.View) *agent.Reading {
	r := &agent.Reading{}
	s := screen{view: v, last: v.LastRow()}
	if s.last < 0 {
		return r
	}
	if first, end, ok := s.composer(); ok {
		r.Composer = s.readComposer(first, end)
		s.footer(r, end)
		s.work(r, first)
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

func (s *screen) blank(row int) bool { return strings.TrimSpace(s.text(row)) == "" }

// mark is before the composer's first line, before a sent message (where it is dim), and before the
// chosen option.
const mark = "›"

// isMark reports whether the row starts with the composer's mark.
func isMark(row agent.Row) bool {
	return (row.Text == mark || strings.HasPrefix(row.Text, mark+" ")) && !dimAt(row, 0)
}

func dimAt(row agent.Row, at int) bool {
	for _, s := range row.Spans {
		if at >= s.From && at < s.To {
			return s.Dim
		}
	}
	return false
}

// longDraft is the number of a draft's rows from which the footer may have no room.
const longDraft = 6

// composer finds the composer's rows: from the last mark above the caret to the blank row above the
// footer. end is the row after the last one.
func (s *screen) composer() (first, end int, ok bool) {
	caret := s.view.Cursor
	if !caret.Visible || caret.Row >= len(s.view.Lines) {
		return 0, 0, false
	}
	first = caret.Row
	for first >= 0 && !isMark(s.view.Lines[first]) {
		if text := s.text(first); text != "" && !strings.HasPrefix(text, "  ") {
			return 0, 0, false
		}
		first--
	}
	if first < 0 || s.view.Cursor.Col < 2 {
		return 0, 0, false
	}
	end = s.last + 1
	least := first
	if s.last-first >= longDraft && caret.Row <= s.last { // the footer is below it, if there is room
		least = caret.Row + 1
	}
	for end > least && !s.blank(end-1) { // above the footer
		end--
	}
	if end <= least { // a screen without a footer, or with too few rows for one
		end = s.last + 2
	}
	end-- // the blank row
	return first, end, caret.Row < end || caret.Row == first
}

// scrolled is at the right edge of a composer's first row when more rows are above it.
const scrolled = "↑"

// readComposer reads the composer's rows.
func (s *screen) readComposer(first, end int) *agent.Composer {
	c := &agent.Composer{Mode: agent.ModeMessage, Focused: true}
	var lines []string
	for i := first; i < min(end, len(s.view.Lines)); i++ {
		text := strings.TrimPrefix(s.text(i), "  ")
		if i == first {
			text = strings.TrimPrefix(strings.TrimPrefix(s.text(i), mark), " ")
		}
		lines = append(lines, strings.TrimRight(text, " "))
	}
	if len(lines) > 1 && strings.HasSuffix(lines[0], scrolled) { // it covers the last cell of the row
		c.Above, lines = true, lines[1:]
	}
	c.Text = strings.TrimRight(strings.Join(lines, "\n"), "\n")
	start := s.view.Cursor.Row == first && s.view.Cursor.Col == 2
	switch {
	case strings.TrimSpace(c.Text) == "":
		c.Text, c.Empty = "", s.view.Cursor.Row == first // otherwise the draft has line breaks
	case start && s.view.Lines[first].Dim(len(mark)): // typed text is never dim
		c.Hint, c.Text, c.Empty = c.Text, "", true
	}
	return c
}

// footer reads the rows below the composer.
func (s *screen) footer(r *agent.Reading, end int) {
	var lines []string
	for i := end; i <= s.last; i++ {
		if text := strings.TrimSpace(s.text(i)); text != "" {
			lines = append(lines, text)
		}
	}
	r.Footer = strings.Join(lines, "\n")
	r.Thread = openThread(lines)
}

// interruptHint is the end of the line of work. A part of it is dim; no text in the conversation
// is.
const interruptHint = "esc to interrupt)"

var runningHook = pattern.New(`· Running (\d+ )?hooks?\b`)

var reconnecting = pattern.New(`reconnecting (\d+)/(\d+)`)

// waitingLists are the heads of the lists of queued messages between the line of work and the
// composer.
var waitingLists = []string{"• Queued follow-up inputs", "• Messages to be submitted"}

// work searches for the line of work above the composer. Menus and queued messages may be between
// them; the first line of the conversation ends the search. While the model's text streams in,
// there is no such line.
func (s *screen) work(r *agent.Reading, first int) {
	const reach = 24 // rows of menus and messages to skip at most
	for i := first - 1; i >= 0 && i > first-reach; i-- {
		text := s.text(i)
		if text == "" || strings.HasPrefix(text, " ") || isMark(s.view.Lines[i]) || waits(text) {
			continue
		}
		at := strings.Index(text, interruptHint)
		if !strings.HasPrefix(text, "• ") || at < 0 || !dimAt(s.view.Lines[i], at+len("esc")) {
			return
		}
		r.Busy, r.Hook = text, runningHook.MatchString(text[at:])
		if m := reconnecting.FindStringSubmatch(text); m != nil {
			r.Retry = &agent.Activity{Kind: agent.Retrying, Attempt: pattern.Number(m[1]), Of: pattern.Number(m[2])}
		}
		return
	}
}

func waits(text string) bool {
	return slices.ContainsFunc(waitingLists, func(w string) bool { return strings.HasPrefix(text, w) })
}
