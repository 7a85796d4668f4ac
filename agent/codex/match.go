package codex

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"berth/agent"
	"berth/agent/drawn"
	"berth/agent/pattern"
)

// Match says how much of the prompt the dialog shows. Of two parallel calls Codex asks about the
// last one first.
func (Driver) Match(d *agent.Dialog, p *agent.Request) agent.Match {
	return agent.Matchers{Question: matchQuestion, Plan: matchPlan, Permission: matchPermission}.Match(d, p)
}

// matchPermission: a dialog shows all of a command, but only the files of an edit.
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
	case aboutElse(d):
		return agent.MatchIf(titles[tool] == "", agent.PartMatch)
	case tool == toolCommand:
		return matchCommand(d, p, command, description)
	case tool == toolPatch && d.Tool == toolPatch:
		_, to, ok := strings.Cut("\n"+strings.Join(visible(d), "\n"), "\nDestination: ")
		return agent.MatchIf(!ok || strings.Contains(command, path.Base(strings.TrimSpace(to))), agent.PartMatch)
	}
	return agent.PartMatch
}

// aboutElse reports whether the dialog's question isn't about a command or an edit. A dialog without
// room for its question may be about either.
func aboutElse(d *agent.Dialog) bool { return d.Tool == "" && d.Title != "" }

func readInput(raw json.RawMessage) (command, description string, err error) {
	fields, err := agent.ReadInput(raw)
	if err == nil {
		err = fields.Texts(map[string]*string{"command": &command, "description": &description})
	}
	return command, description, err
}

// beside is a little more than the columns that Codex leaves free beside a dialog's text. The exact
// column where it wraps wasn't measured.
const beside = 6

var environment = pattern.New(`^Environment: local$`)

// thread matches the first row of a dialog of another thread than the one on the screen, such as a subagent's. A reason
// can't draw that row, because "Reason: " is before its own first one.
var thread = pattern.New(`^Thread: `)

// ofCall are the rows of a dialog that are drawn of its call: without the thread and the environment above them. It also
// reports whether there is a thread.
func ofCall(rows []string) (own []string, inThread bool) {
	for len(rows) > 0 && rows[0] == "" {
		rows = rows[1:]
	}
	inThread = len(rows) > 0 && thread.MatchString(rows[0])
	for inThread && len(rows) > 0 && rows[0] != "" { // a narrow screen breaks its name
		rows = rows[1:]
	}
	for len(rows) > 0 && (rows[0] == "" || environment.MatchString(rows[0])) {
		rows = rows[1:]
	}
	return rows, inThread
}

// visible are these rows, without the row in place of those that have no room.
func visible(d *agent.Dialog) []string {
	rows, _ := ofCall(strings.Split(d.Body, "\n"))
	if last := len(rows) - 1; d.Cut && last >= 0 && elision.MatchString(rows[last]) {
		rows = rows[:last]
	}
	return rows
}

// matchCommand: the command is after a dollar sign, and the reason is above it. With several dollar
// signs it isn't clear which one is Codex's. Another thread's dialog is that of a subagent, whose prompt says so.
func matchCommand(d *agent.Dialog, p *agent.Request, command, reason string) agent.Match {
	if d.Cut {
		return drawn.Text{Rows: visible(d), Width: d.Cols - beside, Cut: true}.Of("Reason: " + reason + "\n\n$ " + command)
	}
	var rows []string
	dollars := 0
	for _, row := range d.Rows {
		text, ok := strings.CutPrefix(row.Text, "  ")
		if !ok && strings.TrimSpace(row.Text) != "" {
			return agent.NoMatch
		}
		if strings.HasPrefix(text, "$ ") {
			dollars++
		}
		rows = append(rows, text)
	}
	above, inThread := ofCall(rows)
	var below []string
	if at := slices.IndexFunc(above, func(row string) bool { return strings.HasPrefix(row, "$ ") }); at >= 0 {
		above, below = above[:at], above[at:]
	}
	match := drawn.Text{Rows: below, Width: d.Cols - beside, Shell: true}.Of("$ " + command)
	if match < agent.AlikeMatch {
		return agent.NoMatch
	}
	if reason != "" {
		reason = "Reason: " + reason
	}
	if inThread && !ofSubagent(p) || dollars > 1 || (drawn.Text{Rows: above, Width: d.Cols - beside}).Of(reason) != agent.WholeMatch {
		return agent.PartMatch
	}
	return match
}

// matchPlan compares a plan that was read from a dialog. The same text wrapped differently may be
// another plan. If the plan's start isn't on the screen, the match is partial.
func matchPlan(d *agent.Dialog, p *agent.Request) agent.Match {
	switch {
	case d.Cut:
		return agent.PartMatch
	case p.Text == nil || *p.Text == d.Body:
		return agent.WholeMatch
	}
	return agent.MatchIf(flat(*p.Text) == flat(d.Body), agent.AlikeMatch)
}

// matchQuestion: each page shows the question's number and the number of questions.
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
	match := max(text.Of(strings.TrimSpace(q.Text)), agent.AlikeMatch) // with other blanks it may be another question's
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

// offer compares an option with a label and its description. A label that was cut for lack of room
// may have another end.
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
