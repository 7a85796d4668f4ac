package gemini

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"berth/agent"
	"berth/agent/drawn"
	"berth/agent/pattern"
)

// Match says how much of the prompt the dialog shows.
func (Driver) Match(d *agent.Dialog, p *agent.Request) agent.Match {
	return agent.Matchers{Question: matchQuestion, Plan: matchPlan, Permission: matchPermission}.Match(d, p)
}

// matchPlan: Gemini reports only a plan's path, so its text was read from a dialog. A plan that is
// wrapped differently may be another one.
func matchPlan(d *agent.Dialog, p *agent.Request) agent.Match {
	switch {
	case d.Cut:
		return agent.PartMatch
	case p.Text == nil || *p.Text == d.Body:
		return agent.WholeMatch
	}
	return agent.MatchIf(slices.Equal(strings.Fields(*p.Text), strings.Fields(d.Body)), agent.AlikeMatch)
}

// plansOnly is the dialog's text about that mode.
const plansOnly = "\nThis will restrict the agent to read-only tools to allow for safe planning.\nDo you want to proceed?"

func matchPermission(d *agent.Dialog, p *agent.Request) agent.Match {
	tool := agent.Value(p.Tool)
	if tool == "" || d.Tool != "" && d.Tool != tool {
		return agent.MatchIf(tool == "", agent.PartMatch)
	}
	var in toolInput
	if len(p.Raw) > 0 { // otherwise the notification has it
		var err error
		if in, err = readInput(p.Raw); err != nil {
			return agent.NoMatch
		}
	}
	if in.Command == "" && tool == toolShell {
		in.Command = p.FullInput
	}
	head, _, _ := strings.Cut(d.Body, "\n")
	switch tool {
	case toolShell:
		rows, columns := inner(d.Lines)
		if len(rows) == 0 {
			return agent.PartMatch
		}
		match := drawn.Text{Rows: rows, Width: columns, Shell: true, Cut: d.Cut}.Of(strings.TrimSpace(in.Command))
		if match > agent.PartMatch && beside(d) != "" {
			return agent.PartMatch // the dialog asks for more, or warns
		}
		return match
	case toolWrite, toolEdit: // the dialog leaves out rows of a change without room
		names := func(file string) bool { return strings.Contains(head, path.Base(file)) }
		return agent.MatchIf(d.Cut || slices.ContainsFunc(spelled(in.File), names), agent.PartMatch)
	case toolEnterPlan:
		if (drawn.Text{Rows: strings.Split(d.Body, "\n"), Width: d.Cols}).Of(in.Reason+plansOnly) == agent.WholeMatch {
			return agent.WholeMatch
		}
	}
	return agent.PartMatch
}

// beside is the text below the command's box, without the text that each such dialog has.
func beside(d *agent.Dialog) string {
	_, end := innerBox(d.Lines)
	b := &box{rows: d.Lines}
	b.options() // a path that is wrapped can draw some, too
	var rows []string
	for _, row := range d.Lines[end+1 : max(b.first, end+1)] {
		rows = append(rows, strings.TrimSpace(row))
	}
	if usual.MatchString(flat(strings.Join(rows, " "))) {
		return ""
	}
	return strings.Trim(strings.Join(rows, "\n"), "\n")
}

// usual matches the text below each command.
var usual = pattern.New(`^Allow execution of \[Shell\]\?( Redirection detected\. To auto-accept, press \S+)?$`)

// toolInput has the subjects of the tools' dialogs.
type toolInput struct{ Command, Reason, File string }

func readInput(raw json.RawMessage) (in toolInput, err error) {
	fields, err := agent.ReadInput(raw)
	if err == nil {
		err = fields.Texts(map[string]*string{"command": &in.Command, "reason": &in.Reason, "file_path": &in.File})
	}
	return in, err
}

// matchQuestion: the pages of several questions have the same tabs. A page is identified by its
// question's text, and by the shown options.
func matchQuestion(d *agent.Dialog, p *agent.Request) agent.Match {
	if len(p.Questions) == 0 || d.Cut {
		return agent.PartMatch
	}
	if len(p.Questions) > 1 || len(d.Tabs) > 1 {
		if len(d.Tabs) != len(p.Questions) {
			return agent.NoMatch
		}
		for i, q := range p.Questions {
			if !isTab(d.Tabs[i], q.Header) {
				return agent.NoMatch
			}
		}
	}
	if d.Confirm {
		return agent.WholeMatch
	}
	shown := questionShown(d)
	unread := false
	for _, q := range p.Questions {
		if q.Text == "" {
			unread = true
			continue
		}
		if plainText(q.Text) == plainText(shown) {
			text := drawn.Text{Rows: strings.Split(shown, "\n"), Width: d.Cols - besideQuestion, Prose: true}
			asks := max(text.Of(strings.TrimSpace(q.Text)), agent.AlikeMatch) // with other blanks or marks it may be another question's
			if m := min(asks, offers(d, q)); m != agent.NoMatch {
				return m
			}
		}
	}
	return agent.MatchIf(unread, agent.WholeMatch)
}

// besideQuestion is a little more than the columns that are free beside a question. The exact
// column where Gemini wraps wasn't measured.
const besideQuestion = 8

// questionShown is the dialog's question, in its own words.
func questionShown(d *agent.Dialog) string {
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(d.Body), selectAll))
}

// offers compares the options on the screen with the question's, descriptions included. A label
// that was cut for lack of room may have another end.
func offers(d *agent.Dialog, q agent.Question) agent.Match {
	m := agent.WholeMatch
	for _, o := range d.Options {
		i := o.Number - 1
		switch {
		case i < 0:
			continue
		case i >= len(q.Options) && !offersOwn(d, o, i, q):
			return agent.NoMatch
		case i >= len(q.Options):
			continue
		}
		label, explained := q.Options[i], o.More
		if i < len(q.Descriptions) {
			explained = q.Descriptions[i]
		}
		switch {
		case !strings.HasPrefix(plainText(label), plainText(strings.TrimSuffix(o.Label, "…"))):
			return agent.NoMatch
		case plainText(o.Label) != plainText(label), plainText(o.More) != plainText(explained):
			m = agent.PartMatch
		case o.Label != strings.TrimSpace(label):
			m = min(m, agent.AlikeMatch)
		}
	}
	return m
}

// offersOwn reports whether the i-th row is one that Gemini adds to the question: to tick all, or
// for text. That row shows a placeholder, or typed text if the foot says that the row takes text. A
// list shows three rows at a time, so any other row may be one more option.
func offersOwn(d *agent.Dialog, o agent.Option, i int, q agent.Question) bool {
	if q.MultiSelect && len(q.Options) > 1 {
		if i == len(q.Options) {
			return o.Label == optionAll
		}
		i--
	}
	return i == len(q.Options) && (o.Focused && typesOwn(d) || strings.HasPrefix(hint(&q), strings.TrimSuffix(o.Label, "…")))
}

// plainText is a text without blanks and without Markdown's marks, which Gemini renders.
func plainText(text string) string {
	return drawn.Without(text, " \t\n\u00a0#*_`>|-+~[]()│─┌┐└┘├┤┬┴┼•")
}

// isTab says whether a tab is that of the question with this header. On a narrow screen either was
// drawn with only its start.
func isTab(tab, header string) bool {
	tab, cutTab := strings.CutSuffix(plainText(tab), "…")
	header, cutHeader := strings.CutSuffix(plainText(header), "…")
	return tab == header || cutTab && strings.HasPrefix(header, tab) || cutHeader && strings.HasPrefix(tab, header)
}
