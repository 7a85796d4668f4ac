package detect

import (
	"strings"

	"berth/agent"
)

// dialogKey tells one dialog from another. What is chosen or ticked in it does
// not make it another.
func dialogKey(d *agent.Dialog) string {
	if d == nil {
		return ""
	}
	if d.Key != "" {
		return d.Key
	}
	if d.Type == agent.PromptQuestion {
		return string(d.Type) + "\x00" + strings.Join(d.Tabs, "\x00") // its pages are one prompt
	}
	body := d.Body
	switch {
	case d.Type == agent.PromptNotice, d.Subtype == agent.SubtypeOAuthLogin, d.Subtype == agent.SubtypeTheme:
		body = "" // what is typed into it, is chosen in it, or goes on elsewhere, changes it
	case len(d.Rows) > 0:
		rows := make([]string, len(d.Rows))
		for i, row := range d.Rows {
			rows[i] = row.Text
		}
		body = strings.Join(rows, "\n")
	}
	for _, f := range d.Fields { // whatever they are filled in with
		body += "\x00" + f.Label
	}
	return strings.Join([]string{string(d.Type), d.Subtype, d.Title, d.Agent, d.Tool, body}, "\x00")
}

// size is that of the screen which the dialog was drawn for.
func size(d *agent.Dialog) [2]int { return [2]int{d.Cols, d.Height} }

// resized says that the dialog is the prompt's, drawn anew for a screen of another
// size. Where all of it has no room, what is there is of it.
func (r *request) resized(d *agent.Dialog) bool {
	now, p := flat(d), r.Prompt
	is := func(field *string, shown string) bool {
		return field == nil && shown == "" || field != nil && *field == shown
	}
	if r.Key == "" || d.Key != "" || r.Flat == "" || d.Type != p.Type || !is(p.Subtype, d.Subtype) ||
		d.Title != "" && (!is(p.Title, d.Title) || !is(p.Tool, d.Tool) || !is(p.Agent, d.Agent)) { // which may have no room
		return false
	}
	body, _, _ := strings.Cut(now, "\x00")
	return alike(now, r.Flat) || d.Cut && strings.Contains(dense(r.Flat), dense(body))
}

// dense is a text without blanks.
func dense(s string) string { return strings.Join(strings.Fields(s), "") }

// alike says that two texts differ by where they are broken into rows alone: at the end
// of a row of either there may be a blank in the other, or none.
func alike(a, b string) bool {
	for {
		restA, gapA := ungapped(a)
		restB, gapB := ungapped(b)
		if gapA != gapB && gapA != '\n' && gapB != '\n' {
			return false
		}
		if restA == "" || restB == "" {
			return restA == restB
		}
		if restA[0] != restB[0] {
			return false
		}
		a, b = restA[1:], restB[1:]
	}
}

// ungapped takes the blanks before a text off; gap says what they are: a row's end,
// blanks, or with 0 nothing.
func ungapped(s string) (rest string, gap byte) {
	rest = strings.TrimLeft(s, " \t\n\u00a0")
	switch {
	case strings.Contains(s[:len(s)-len(rest)], "\n"):
		gap = '\n'
	case len(rest) < len(s):
		gap = ' '
	}
	return rest, gap
}

// flat is what the dialog says without what depends on the screen's size, in its rows.
func flat(d *agent.Dialog) string {
	if d.Flat != "" {
		return d.Flat
	}
	return d.Body
}
