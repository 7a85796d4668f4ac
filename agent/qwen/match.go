package qwen

import (
	"slices"
	"strings"

	"berth/agent"
	"berth/agent/drawn"
	"berth/agent/forks"
)

// Match says how much of the prompt the dialog shows.
func (Driver) Match(d *agent.Dialog, p *agent.Request) agent.Match {
	return agent.Matchers{Question: matchQuestion, Plan: matchPlan, Permission: matchPermission}.Match(d, p)
}

// matchPlan: Qwen Code renders the plan's Markdown, and cuts what has no room.
func matchPlan(d *agent.Dialog, p *agent.Request) agent.Match {
	switch {
	case len(p.Raw) > 0, d.Cut:
		return agent.MatchIf(strings.HasPrefix(plain(agent.Value(p.Text)), plain(strings.Join(planRows(d), "\n"))), agent.PartMatch)
	case p.Text == nil || *p.Text == d.Body:
		return agent.WholeMatch
	}
	return agent.MatchIf(drawn.Squeeze(*p.Text) == drawn.Squeeze(d.Body), agent.AlikeMatch)
}

// planRows are the plan's rows, without those of Qwen Code.
func planRows(d *agent.Dialog) []string {
	rows := drawn.Filled(strings.Split(d.Body, "\n"))
	if i := slices.IndexFunc(rows, func(row string) bool { return hidden.MatchString(row) || row == "o open full plan in editor" }); i >= 0 {
		return rows[:i]
	}
	return rows
}

// plain is a text without blanks and without Markdown's marks, which Qwen Code renders.
func plain(text string) string {
	return drawn.Without(text, " \t\n\u00a0#*_`>|-+~[]()│─┌┐└┘├┤┬┴┼•●0123456789.")
}

func matchPermission(d *agent.Dialog, p *agent.Request) agent.Match {
	if d.Agent != "" {
		return matchSubagent(d, p)
	}
	tool := agent.Value(p.Tool)
	if tool == "" || d.Tool != "" && d.Tool != tool && !(d.Tool == toolEdit && tool == toolWrite) {
		return agent.MatchIf(tool == "", agent.PartMatch)
	}
	in, err := agent.ReadInput(p.Raw)
	if err != nil && len(p.Raw) > 0 {
		return agent.NoMatch
	}
	switch tool {
	case toolShell:
		if d.Tool != toolShell || d.Question == askEdit {
			return agent.MatchIf(d.Tool == toolShell && matchSed(d, p.FullInput), agent.PartMatch)
		}
		rows, command := shown(drawn.Lines(d.Rows)), strings.TrimSpace(p.FullInput)
		m := drawn.Text{Rows: rows, Width: d.Cols - layoutBeside, Shell: true, Cut: d.Cut}.Of(command)
		if m == agent.NoMatch && d.Cut {
			m = agent.MatchIf(drawn.Lacks(rows, command), agent.PartMatch)
		}
		return m
	case toolWrite, toolEdit: // the dialog leaves out rows of a change without room
		file, _ := in.Text("file_path")
		return agent.MatchIf(d.Tool != "" && (d.Cut || forks.DrawsPath(forks.HeadFile(headOf(d)), tooling.Used(agent.Value(file)))), agent.PartMatch)
	}
	return agent.MatchIf(d.Tool == "", agent.PartMatch)
}

// matchSed reports whether the dialog of an edit may be that of the command: Qwen Code draws so what a command of sed would change.
// The rows of the tool have the command.
func matchSed(d *agent.Dialog, command string) bool {
	more, ok := strings.CutPrefix(drawn.Squeeze(headOf(d)), drawn.Squeeze("Shell "+command))
	return d.Cut || ok && strings.Trim(more[:min(1, len(more))], "([") == "" // its folder, and what it is for
}

// shown are the rows without the one in place of those that have no room.
func shown(rows []string) []string {
	if i := slices.IndexFunc(rows, hidden.MatchString); i >= 0 {
		return slices.Delete(rows, i, i+1)
	}
	return rows
}

// matchQuestion: the pages of several questions have the same tabs. A page is identified by its
// question's text, and by the shown options.
func matchQuestion(d *agent.Dialog, p *agent.Request) agent.Match {
	if d.Cut {
		return agent.PartMatch
	}
	return forks.Page{
		Current: d.Current,
		Tab:     func(tab, header string) bool { return strings.HasPrefix(header, strings.TrimSuffix(tab, "…")) }, // cut without room
		Asks: func(q *agent.Question) agent.Match {
			headed := len(d.Tabs) > 0 || drawn.Squeeze(q.Header) == drawn.Squeeze(d.Title)
			if drawn.Compare(d.Body, q.Text) == agent.NoMatch || !headed || len(d.Options) != len(q.Options)+1 {
				return agent.NoMatch
			}
			text := drawn.Text{Rows: strings.Split(d.Body, "\n"), Width: d.Cols - 2*commandIndent, Prose: true}
			return max(text.Of(strings.TrimSpace(q.Text)), agent.AlikeMatch) // with other blanks it may be another question's
		},
		Offers: offers,
		Own:    func(agent.Option) bool { return true }, // the line for a text
	}.Match(d, p)
}

// offers: a label and a description may be wrapped.
func offers(o agent.Option, label, explained string) agent.Match {
	if o.Label == strings.TrimSpace(label) && drawn.Flat(o.More) == drawn.Flat(explained) {
		return agent.WholeMatch
	}
	return agent.MatchIf(drawn.Squeeze(o.Label+o.More) == drawn.Squeeze(label+explained), agent.AlikeMatch)
}
