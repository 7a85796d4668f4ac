package gemini

import (
	"strings"

	"berth/agent"
	"berth/agent/pattern"
)

func (b *box) trust() bool {
	if !b.has(askTrust) || len(b.list) < 2 || !strings.HasPrefix(b.list[0].Label, "Trust folder") {
		return false
	}
	b.dialog.Body = b.text(0, b.first)
	return b.is(agent.PromptPermission, agent.SubtypeTrust, askTrust)
}

func (b *box) auth() bool {
	if !b.has(askAuth) && !(b.dialog.Cut && b.has(authFoot, authTerms)) { // the question may have left the screen
		return false
	}
	b.dialog.Body = b.text(0, b.first)
	return b.is(agent.PromptSetup, agent.SubtypeAuth, askAuth)
}

// insideBox matches the rows of a box inside the dialog. Its upper side may have left the screen.
var insideBox = pattern.New(`^ *[╭│╰]`)

// key reads the dialog for an API key. It doesn't keep the typed text, which the screen shows. On a small screen
// the dialog's head has left the screen.
func (b *box) key() bool {
	if !b.has(askKey, "(Press Enter to submit") && !(b.dialog.Cut && b.has(keyFoot)) {
		return false
	}
	var lines []string
	for _, row := range b.rows {
		if !insideBox.MatchString(row) {
			lines = append(lines, row)
		}
	}
	b.dialog.Lines, b.dialog.Options = lines, nil
	b.rows, b.first, b.last = lines, len(lines), -1
	b.dialog.Body = b.text(0, len(lines))
	return b.is(agent.PromptSetup, agent.SubtypeAPIKey, askKey)
}
