package claude

import (
	"strings"

	"berth/agent"
	"berth/agent/drawn"
	"berth/agent/pattern"
)

// matchPlan compares a plan with its drawn form: Claude renders the Markdown, so its marks are
// removed and its lines are compared. A plan that is drawn differently, or not to its end, isn't
// answered by keys.
func matchPlan(d *agent.Dialog, p *agent.Request) agent.Match {
	if p.Text == nil || len(beside(p.Raw, "plan", "planFilePath")) > 0 { // the dialog shows no other fields
		return agent.PartMatch
	}
	t := drawn.Text{Rows: strings.Split(d.Body, "\n"), Width: d.Cols - besideIndented, Markdown: true, Undrawn: undrawn, Cut: d.Cut}
	return max(t.Of(planText(strings.Trim(*p.Text, "\n"))), agent.PartMatch)
}

var (
	heading  = pattern.New(`^ {0,3}#{1,6} +`)
	bullet   = pattern.New(`^( *)[*+] +`)
	emphasis = pattern.New("\\*\\*([^*`\n]+)\\*\\*|`([^`*\n]+)`")
)

// planText is a plan as the recordings show it: headings, bold text and code without their marks, a
// blank row below a heading, and a dash before each item of a list.
func planText(plan string) string {
	lines := strings.Split(plan, "\n")
	var out []string
	for i, line := range lines {
		text := bullet.ReplaceAllString(heading.ReplaceAllString(line, ""), "$1- ")
		out = append(out, emphasis.ReplaceAllString(text, "$1$2"))
		if heading.MatchString(line) && i+1 < len(lines) && strings.TrimSpace(lines[i+1]) != "" {
			out = append(out, "")
		}
	}
	return strings.Join(out, "\n")
}
