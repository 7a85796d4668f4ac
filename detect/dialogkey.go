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

// ofWork reports whether agents ask this type of dialog during a turn.
func ofWork(d *agent.Dialog) bool {
	switch d.Type {
	case agent.PromptPermission, agent.PromptPlan, agent.PromptQuestion, agent.PromptForm:
		return d.Subtype == "" && !d.AfterTurn
	}
	return false
}

// asksAside reports whether the dialog's answer allows something although it is about no call: a plan of the turn before,
// or trust.
func asksAside(d *agent.Dialog) bool {
	return d.AfterTurn || d.Type == agent.PromptPermission && d.Subtype != ""
}

// answersSome reports whether a key can choose something in the dialog.
func answersSome(d *agent.Dialog) bool {
	return ofWork(d) || asksAside(d) || len(d.Options) > 0
}
