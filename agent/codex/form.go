package codex

import (
	"encoding/json"
	"slices"
	"strings"

	"berth/agent"
	"berth/agent/pattern"
)

var (
	fieldHead = pattern.New(`^  Field (\d+)/(\d+)\b`)
	// asksForTool matches the question of a form with one field, which asks about a server's tool.
	asksForTool = pattern.New(`^Allow the .+ MCP server to run tool ".+"\?$`)
	// asksForInput matches the question about input for a terminal that a call has started.
	asksForInput = pattern.New(`^Would you like to send input to terminal \d+\?$`)
)

// titleForm is the title of a server's form.
const titleForm = "A form"

// asForm makes the dialog a server's form. Berth fills in no form of Codex, so it is a notice that
// can be closed. Each of its pages is a dialog of its own.
func asForm(d *agent.Dialog, body string, cut bool) {
	d.Type, d.Title, d.Body, d.Cut = agent.PromptNotice, titleForm, body, cut
	d.Key = strings.Join([]string{string(d.Type), d.Title, body}, "\x00")
}

// textForm reads a page of a server's form whose field takes text: the caret is in a line for it,
// below the server's question. The typed text isn't part of the question.
func (s *screen) textForm() *agent.Dialog {
	caret := s.view.Cursor
	foot := s.last
	for foot > 0 && !s.blank(foot-1) {
		foot--
	}
	words := flat(s.view.Text(foot, s.last))
	if !caret.Visible || caret.Row >= foot || !strings.HasPrefix(words, "enter to submit") || !strings.Contains(words, "esc to cancel") {
		return nil
	}
	line := caret.Row
	for line >= 0 && !strings.HasPrefix(s.text(line), "  "+mark+" ") && s.text(line) != "  "+mark {
		if s.text(line) != "" && !strings.HasPrefix(s.text(line), "    ") {
			return nil
		}
		line--
	}
	if line < 0 {
		return nil
	}
	top := line - 1
	for top >= 0 && !(fieldHead.MatchString(s.text(top)) && s.view.Lines[top].Dim(len("  "))) {
		top--
	}
	d := &agent.Dialog{Cols: s.view.Cols, Height: s.view.Rows}
	asForm(d, s.inset(top, line-1), top < 0)
	for i := max(top, 0); i <= s.last; i++ {
		d.Lines = append(d.Lines, strings.TrimRight(s.text(i), " "))
	}
	return d
}

// form reads a server's form, with a page for each field, or Codex's own form about a server's
// tool. The text that the server and the model write there is neither dim nor below the options.
func (b *block) form() bool {
	d, s := b.dialog, b.screen
	if len(d.Options) == 0 || !strings.Contains(b.foot, "enter to submit") || !strings.Contains(b.foot, "esc to cancel") {
		return false
	}
	row, ok := b.above(fieldHead)
	for ok && !s.view.Lines[row].Dim(len("  ")) {
		row, ok = b.aboveRow(fieldHead, row)
	}
	b.top = max(row, 0)
	last := row + 1
	for last+1 < b.first && !s.blank(last+1) {
		last++
	}
	asks := flat(s.view.Text(row+1, last))
	if !ok || !asksForTool.MatchString(asks) || !strings.HasSuffix(s.text(row), "1/1") {
		asForm(d, s.inset(b.top, b.first-1), !ok)
		return true
	}
	d.Type, d.Title, d.Body, d.Alike = agent.PromptPermission, asks, s.inset(last+1, b.first-1), true
	d.Cut = !showsInput(strings.Split(d.Body, "\n"))
	d.Partial = !isNo.MatchString(d.Options[len(d.Options)-1].Label)
	for i := last + 1; i < b.first; i++ {
		d.Rows = append(d.Rows, agent.Drawn(s.view.Lines[i]))
	}
	return true
}

// Of the input of a server's tool the dialog draws valuesShown values at most, without a sign of
// further ones. It draws valueShown characters of each, and then dots.
const (
	valuesShown = 3
	valueShown  = 60
	dots        = "..."
)

// showsInput reports whether the rows surely show all of a tool's input. A value that is wrapped takes
// several rows; a larger window has room for it.
func showsInput(rows []string) bool {
	return len(rows) < valuesShown && !slices.ContainsFunc(rows, func(row string) bool {
		return strings.HasSuffix(row, dots) || row != "" && strings.Trim(row, ".") == "" // the dots may be wrapped
	})
}

// ReportsDialog: the hook PermissionRequest reports each question about a server's tool, and about input for a terminal. The dialog
// doesn't draw all that such a call does, and the session log has none of these calls in the form of the hooks.
func (Driver) ReportsDialog(d *agent.Dialog) bool {
	return asksForTool.MatchString(d.Title) || asksForInput.MatchString(d.Title)
}

// hasRoom reports whether the dialog of a server's tool shows all of this input.
func hasRoom(input json.RawMessage) bool {
	fields, err := agent.ReadInput(input)
	for _, value := range fields {
		if text := agent.Compact(value); len(text) > valueShown || strings.HasSuffix(strings.TrimSuffix(text, `"`), dots) {
			return false
		}
	}
	return err == nil && len(fields) < valuesShown
}
