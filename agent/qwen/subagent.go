package qwen

import (
	"strings"

	"berth/agent"
	"berth/agent/drawn"
	"berth/agent/pattern"
)

var (
	ofSubagent = pattern.New(`^ {4,}Approval requested by (\S.*):$`)
	subOption  = pattern.New(`^ {4,}([›❯] | {2})(\d)\. (\S.*)$`)
)

// subOptions is the option of a row of a subagent's dialog.
func subOptions(row string) []agent.Option {
	m := subOption.FindStringSubmatch(row)
	if m == nil {
		return nil
	}
	return []agent.Option{{Number: pattern.Number(m[2]), Focused: m[1][0] != ' ', Label: strings.TrimSpace(m[3])}}
}

// subagent reads the dialog of a subagent's call, from the row that names the subagent to the row of waiting. It draws five rows
// at most of what the call does, doesn't name the tool, and has the subagent's last calls above those rows. So it counts as cut
// off: it says that the subagent asks, and no key of Berth's answers it.
func (s *screen) subagent(from, end int) *agent.Dialog {
	list := drawn.Numbered(s.rows[from+1:end], subOptions, nil)
	if len(list.Options) < 2 || !list.Whole() || list.Focused() != 1 {
		return nil
	}
	asks := s.view.LastUpTo(from + list.At[0])
	if asks <= from {
		return nil
	}
	d := &agent.Dialog{
		Cols: s.view.Cols, Height: s.view.Rows, Type: agent.PromptPermission, Cut: true, Agent: ofSubagent.Group(s.rows[from]),
		Title: strings.TrimSpace(s.rows[asks]), Question: strings.TrimSpace(s.rows[asks]), Options: list.Options,
	}
	for i := from + 1; i < asks; i++ {
		row := agent.Drawn(s.view.Lines[i])
		row.Text = strings.TrimPrefix(row.Text, "       ")
		d.Rows = append(d.Rows, row)
	}
	d.Body = joined(d.Rows)
	for _, row := range s.rows[from : s.view.LastUpTo(end-1)+1] {
		d.Lines = append(d.Lines, strings.TrimPrefix(row, "    "))
	}
	return d
}

// matchSubagent: the last row above the question is of the call, or says that some have no room. A permission's hook names the
// subagent by its id alone.
func matchSubagent(d *agent.Dialog, p *agent.Request) agent.Match {
	if p.Agent != nil && *p.Agent != d.Agent || len(d.Rows) == 0 {
		return agent.NoMatch
	}
	row := strings.TrimSpace(d.Rows[len(d.Rows)-1].Text)
	shell := agent.Value(p.Tool) == toolShell && !hidden.MatchString(row)
	return agent.MatchIf(!shell || strings.Contains(drawn.Squeeze(p.FullInput), drawn.Squeeze(row)), agent.PartMatch)
}
