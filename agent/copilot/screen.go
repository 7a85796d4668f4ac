package copilot

import (
	"slices"
	"strings"

	"berth/agent"
	"berth/agent/compose"
	"berth/agent/pattern"
)

// The rows around the composer, and the bar at its left.
const (
	upperEdge = "╻▄▄▄"
	lowerEdge = "╹▀▀▀"
	bar       = "┃"
)

// composerRows is the most rows that the composer shows. It scrolls a longer text.
const composerRows = 10

// footerRows is the most rows below the composer.
const footerRows = 3

// Screen reads the bottom of the screen: the composer with its footer, or in its place a dialog.
// Text above these is the conversation, which can look like anything.
func (Driver) Screen(v *agent.View) *agent.Reading {
	r := &agent.Reading{}
	s := screen{view: v, last: v.LastRow()}
	if s.last < 0 {
		return r
	}
	top, bottom, ok := s.composer()
	if !ok {
		r.Dialog = s.dialog()
		return r
	}
	r.Footer = v.Text(bottom+1, s.last)
	if r.Clear = true; apart.MatchString(r.Footer) {
		return r
	}
	r.Composer = s.read(top, bottom, r.Footer)
	r.Mode = mode(r.Footer)
	if working.MatchString(r.Footer) {
		r.Busy, r.Guess = r.Footer, true // it says so for up to 1.4 s after the turn's end
	}
	r.Queued = s.queued(top)
	r.Failed = s.failed(top - folderRows)
	return r
}

// working matches the footer during a turn: a mark that blinks, what Copilot does, and how it is
// interrupted. A footer without room shows the mark alone.
var working = pattern.New(`^[○◌◎◉●◐◑◒◓∙] `)

// apart matches the footer while Copilot takes no message, outside of turns: at its start, when it
// counts plugins and hooks, and after an interruption.
var apart = pattern.New(`^[○◌◎◉●◐◑◒◓∙] (?:Loading: |Cancelling)`)

// screen is a View that is being read.
type screen struct {
	view *agent.View
	last int // the last row that isn't blank
}

func (s *screen) text(row int) string { return s.view.Lines[row].Text }

// composer finds the rows of the composer's edges. A sent message has other edges.
func (s *screen) composer() (top, bottom int, ok bool) {
	bottom = s.last
	for ; !strings.HasPrefix(s.text(bottom), lowerEdge); bottom-- {
		if bottom == 0 || bottom == s.last-footerRows {
			return 0, 0, false
		}
	}
	top = bottom - 1
	for ; top >= 0 && strings.HasPrefix(s.text(top), bar); top-- {
	}
	return top, bottom, top >= 0 && top < bottom-1 && strings.HasPrefix(s.text(top), upperEdge)
}

// hints are the texts of an empty composer: in shell mode, and while Copilot waits for a message.
var hints = []string{"Execute shell command"}

// read reads the rows between the edges.
func (s *screen) read(top, bottom int, footer string) *agent.Composer {
	c := &agent.Composer{Mode: agent.ModeMessage, Focused: s.view.Cursor.Visible, Above: bottom-top-1 >= min(composerRows, s.view.Rows/3)}
	if shellMode.MatchString(footer) {
		c.Mode = agent.ModeShell
	}
	var lines []string
	for i := top + 1; i < bottom; i++ {
		lines = append(lines, strings.TrimRight(strings.TrimPrefix(strings.TrimPrefix(s.text(i), bar), " "), " "))
	}
	atStart := s.view.Cursor.Row == top+1 && s.view.Cursor.Col <= 2
	compose.Draft(c, lines, true, atStart && isHint(s.view.Lines[top+1]))
	return c
}

// modes matches what Copilot may do unasked, in the footer at rest.
var modes = pattern.New(`(?:^|· )(Interactive|Plan|Autopilot) · (Manual Approval|Allow All)(?:$| )`)

// mode is the word of the command line for what the footer shows; empty for none. The footer doesn't show
// --allow-all-tools.
func mode(footer string) string {
	switch m := modes.FindStringSubmatch(footer); {
	case m == nil:
		return ""
	case m[2] == "Allow All":
		return "allow-all"
	default:
		return strings.ToLower(m[1])
	}
}

// shellMode matches the footer while the composer takes a shell command.
var shellMode = pattern.New(`(?:^|· )Shell ·`)

// isHint reports whether the composer's row is a placeholder. A draft with the caret before it isn't
// dim.
func isHint(row agent.Row) bool {
	text := strings.TrimSpace(strings.TrimPrefix(row.Text, bar))
	return slices.Contains(hints, text) || row.Dim(len(bar))
}

// pending ends a message that Copilot keeps for the end of the turn.
const pending = "(pending · "

// queued are the messages that Copilot keeps for the end of the turn, in the box above the composer.
// It joins them into one.
func (s *screen) queued(top int) []string {
	const reach = 12
	for i := top - 1; i >= max(0, top-reach); i-- {
		text, ok := strings.CutPrefix(strings.TrimRight(s.text(i), " ┃"), "  ")
		if before, _, found := strings.Cut(text, pending); ok && found {
			return []string{strings.TrimSpace(strings.TrimPrefix(before, "❯"))}
		}
	}
	return nil
}

// folderRows are the rows between the conversation and the composer: the working folder.
const folderRows = 1

// errorMark begins an error, and a tool that failed.
const errorMark = " ✗ "

// failed is the error that ends the conversation. Copilot draws all of an error in bold, and of a
// tool only the name.
func (s *screen) failed(end int) *agent.Failure {
	var below []string
	for i := end - 1; i >= 0; i-- {
		text := strings.TrimRight(s.text(i), " "+bar)
		if head, ok := strings.CutPrefix(text, errorMark); ok && s.view.Lines[i].BoldIn(len(errorMark), len(text)) {
			return failure(&data{Message: flat(append([]string{head}, below...)), Status: shownStatus.NumberIn(head)})
		}
		if text != "" && !strings.HasPrefix(text, "   ") {
			return nil // another part of the conversation is the last one
		}
		below = append([]string{text}, below...)
	}
	return nil
}

// shownStatus matches the HTTP status in the text of an error.
var shownStatus = pattern.New(`^(\d{3})\b|\(HTTP (\d{3})\)`)
