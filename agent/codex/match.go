package codex

import (
	"encoding/json"
	"path"
	"strings"

	"berth/agent"
	"berth/agent/drawn"
	"berth/agent/pattern"
)

// Match says how much of what a prompt asks about the dialog shows. Of two calls at
// once Codex asks about the last one first.
func (Driver) Match(d *agent.Dialog, p *agent.Request) agent.Match {
	return agent.Matchers{Question: matchQuestion, Plan: matchPlan, Permission: matchPermission}.Match(d, p)
}

// matchPermission: of a command the dialog shows all, of edits only where they go.
func matchPermission(d *agent.Dialog, p *agent.Request) agent.Match {
	tool := agent.Value(p.Tool)
	if tool == "" || d.Tool != "" && d.Tool != tool {
		return agent.MatchIf(tool == "", agent.PartMatch)
	}
	command, description, err := readInput(p.Raw)
	if err != nil && len(p.Raw) > 0 {
		return agent.NoMatch
	}
	switch {
	case d.Tool == "" && !d.Cut: // asked in other words: not to run a command, or not to make edits
		return agent.MatchIf(titles[tool] == "", agent.PartMatch)
	case tool == toolCommand:
		return matchCommand(d, command, description)
	case tool == toolPatch && d.Tool == toolPatch:
		_, to, ok := strings.Cut("\n"+d.Body, "\nDestination: ")
		return agent.MatchIf(!ok || strings.Contains(command, path.Base(strings.TrimSpace(to))), agent.PartMatch)
	}
	return agent.PartMatch
}

func readInput(raw json.RawMessage) (command, description string, err error) {
	fields, err := agent.ReadInput(raw)
	if err == nil {
		err = fields.Texts(map[string]*string{"command": &command, "description": &description})
	}
	return command, description, err
}

// beside is how many columns Codex leaves free beside a dialog's text, and some: in
// which of them it breaks a row is not measured.
const beside = 6

var environment = pattern.New(`^Environment: local$`)

// matchCommand: the command is behind a dollar sign, and above it the reason. With
// several such signs it is not known which is the agent's.
func matchCommand(d *agent.Dialog, command, reason string) agent.Match {
	if d.Cut {
		rows := strings.Split(d.Body, "\n")
		return drawn.Text{Rows: rows, Width: d.Cols - beside, Cut: true}.Of("Reason: " + reason + "\n\n$ " + command)
	}
	var above, below []string
	dollars := 0
	for _, row := range d.Rows {
		text, ok := strings.CutPrefix(row.Text, "  ")
		if !ok && strings.TrimSpace(row.Text) != "" {
			return agent.NoMatch
		}
		if strings.HasPrefix(text, "$ ") {
			dollars++
		}
		switch {
		case dollars > 0:
			below = append(below, text)
		case environment.MatchString(text) && len(above) == 0:
		case text != "" || len(above) > 0:
			above = append(above, text)
		}
	}
	match := drawn.Text{Rows: below, Width: d.Cols - beside, Shell: true}.Of("$ " + command)
	if match < agent.AlikeMatch {
		return agent.NoMatch
	}
	if reason != "" {
		reason = "Reason: " + reason
	}
	if dollars > 1 || (drawn.Text{Rows: above, Width: d.Cols - beside}).Of(reason) != agent.WholeMatch {
		return agent.PartMatch
	}
	return match
}

// matchPlan compares a plan that was read off a dialog. The same words broken into other lines
// may be another plan. When the plan's start is not on the screen, the match is partial.
func matchPlan(d *agent.Dialog, p *agent.Request) agent.Match {
	switch {
	case d.Cut:
		return agent.PartMatch
	case p.Text == nil || *p.Text == d.Body:
		return agent.WholeMatch
	}
	return agent.MatchIf(flat(*p.Text) == flat(d.Body), agent.AlikeMatch)
}

// matchQuestion: each page tells which of how many it is.
func matchQuestion(d *agent.Dialog, p *agent.Request) agent.Match {
	switch {
	case len(p.Questions) == 0, d.Cut && d.Current < len(p.Questions):
		return agent.PartMatch
	case len(d.Tabs) != len(p.Questions) || d.Current >= len(p.Questions):
		return agent.NoMatch
	}
	q := p.Questions[d.Current]
	if q.Text == "" {
		return agent.WholeMatch // not read yet
	}
	if drawn.Squeeze(q.Text) != drawn.Squeeze(d.Body) {
		return agent.NoMatch
	}
	text := drawn.Text{Rows: strings.Split(d.Body, "\n"), Width: d.Cols - beside, Prose: true}
	match := max(text.Of(strings.TrimSpace(q.Text)), agent.AlikeMatch) // with other blanks it may be another's
	for _, o := range d.Options[min(len(q.Options), len(d.Options)):] {
		if o.Label != optionOther {
			return agent.NoMatch
		}
	}
	for i, label := range q.Options {
		if i >= len(d.Options) {
			return agent.NoMatch
		}
		m := offer(d.Options[i], label, q, i)
		if match = min(match, m); m == agent.NoMatch {
			return agent.NoMatch
		}
	}
	return match
}

// offer compares an option with a label and its description. A label cut for lack of room may
// end differently.
func offer(o agent.Option, label string, q agent.Question, i int) agent.Match {
	explained := o.More
	if i < len(q.Descriptions) {
		explained = q.Descriptions[i]
	}
	shown, cut := strings.CutSuffix(o.Label, "…")
	switch {
	case o.Label == strings.TrimSpace(label) && flat(o.More) == flat(explained):
		return agent.WholeMatch
	case drawn.Squeeze(o.Label+o.More) == drawn.Squeeze(label+explained):
		return agent.AlikeMatch
	case drawn.Squeeze(o.Label) == drawn.Squeeze(label), cut && strings.HasPrefix(drawn.Squeeze(label), drawn.Squeeze(shown)):
		return agent.PartMatch
	}
	return agent.NoMatch
}
