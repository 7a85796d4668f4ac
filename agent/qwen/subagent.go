package qwen

import (
	"strings"

	"berth/agent"
	"berth/agent/drawn"
	"berth/agent/pattern"
)

// ofSubagent matches the row above the dialog of a subagent's call.
var ofSubagent = pattern.New(`^ {4,}Approval requested by (\S.*):$`)

// subagent reads the dialog of a subagent's call, from the row that names the subagent to the row of waiting. It draws five rows
// at most of what the call does, doesn't name the tool, and has the subagent's last calls above those rows. So it counts as cut
// off: it says that the subagent asks, and no key of Berth's answers it. Its options are two columns further to the right.
func (s *screen) subagent(from, end int) *agent.Dialog {
	list := drawn.Numbered(s.rows[from+1:end], func(row string) []agent.Option { return options(strings.TrimPrefix(row, "  ")) }, nil)
	if len(list.Options) < 2 || !list.Whole() || list.Focused() != 1 || s.view.LastUpTo(from+list.At[0]) <= from {
		return nil
	}
	asks := s.view.LastUpTo(from + list.At[0])
	d := &agent.Dialog{Cols: s.view.Cols, Height: s.view.Rows, Type: agent.PromptPermission, Cut: true, Options: list.Options, Lines: s.rows[from:end]}
	d.Agent, d.Title, d.Body = ofSubagent.Group(s.rows[from]), strings.TrimSpace(s.rows[asks]), s.view.Text(from+1, asks-1)
	return d
}

// matchSubagent: the last row above the question is of the call, or says that some have no room. A permission's hook names the
// subagent by its id alone.
func matchSubagent(d *agent.Dialog, p *agent.Request) agent.Match {
	row := strings.TrimSpace(d.Body[strings.LastIndex(d.Body, "\n")+1:])
	other := agent.Value(p.Tool) == toolShell && !hidden.MatchString(row) && !strings.Contains(drawn.Squeeze(p.FullInput), drawn.Squeeze(row))
	return agent.MatchIf(!other && row != "" && (p.Agent == nil || *p.Agent == d.Agent), agent.PartMatch)
}
