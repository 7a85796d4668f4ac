package detect

import (
	"strings"

	"berth/agent"
)

// dialogKey identifies a dialog. A choice or a tick in it doesn't change its key.
func dialogKey(d *agent.Dialog) string {
	if d == nil {
		return ""
	}
	if d.Key != "" {
		return d.Key
	}
	if d.Type == agent.PromptQuestion {
		return string(d.Type) + "\x00" + strings.Join(d.Tabs, "\x00") // all pages are one prompt
	}
	body := d.Body
	switch {
	case d.Type == agent.PromptNotice, d.Subtype == agent.SubtypeOAuthLogin, d.Subtype == agent.SubtypeTheme:
		body = "" // it changes with what is typed, with the choice, and with what happens in the browser
	case len(d.Rows) > 0:
		body = rowsOf(d)
	}
	for _, f := range d.Fields { // not their values
		body += "\x00" + f.Heading()
	}
	return strings.Join(append([]string{string(d.Type), d.Subtype, d.Title, d.Agent, d.Tool, body, d.Question}, d.Sections...), "\x00")
}

// rowsOf returns the rows of a dialog, one on each line.
func rowsOf(d *agent.Dialog) string {
	rows := make([]string, len(d.Rows))
	for i, row := range d.Rows {
		rows[i] = row.Text
	}
	return strings.Join(rows, "\n")
}
