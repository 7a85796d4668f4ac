package claude

import (
	"strings"

	"berth/agent"
)

// matchQuestion: of several questions the pages have the same tabs; each is known by
// its text, and by its options where the agent told them.
func matchQuestion(d *agent.Dialog, p *agent.Request) agent.Match {
	if len(p.Questions) == 0 {
		return agent.PartMatch
	}
	if len(d.Tabs) > 0 {
		if len(d.Tabs) != len(p.Questions) {
			return agent.NoMatch
		}
		for i, q := range p.Questions {
			if q.Header != "" && !sameTab(q.Header, d.Tabs[i]) {
				return agent.NoMatch
			}
		}
	}
	if d.Confirm {
		return agent.WholeMatch
	}
	unread := false
	for _, q := range p.Questions {
		if q.Text == "" {
			unread = true
			continue
		}
		if plainText(q.Text) == plainText(d.Body) && offers(d, q) {
			return agent.WholeMatch
		}
	}
	if unread || d.Cut {
		return when(unread, agent.WholeMatch)
	}
	return agent.NoMatch
}

// offers says whether the dialog has the question's options, as far as they have room.
func offers(d *agent.Dialog, q agent.Question) bool {
	for i, label := range q.Options {
		if i >= len(d.Options) {
			return d.Cut
		}
		if !shows(d.Options[i], label) {
			return false
		}
	}
	return true
}

// shows says whether the option has that label: whole, or without room for its end,
// which is below then.
func shows(o agent.Option, label string) bool {
	rest, begins := strings.CutPrefix(unmarked(label), unmarked(o.Label))
	return begins && (rest == "" || o.Label != "" && strings.HasPrefix(unmarked(o.More), rest))
}

// plainText is a text without blanks and what Markdown marks with.
func plainText(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\n\u00a0#*_`>|-+~[]()│─┌┐└┘├┤┬┴┼•▎", r) {
			return -1
		}
		return r
	}, text)
}
