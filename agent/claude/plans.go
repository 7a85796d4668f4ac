package claude

import (
	"strings"

	"berth/agent"
	"berth/agent/drawn"
	"berth/agent/pattern"
)

// matchPlan: a plan is drawn as what its Markdown means. Its marks are taken off, and its
// lines are compared. One that is drawn otherwise, or not to its end, is not answered by
// keys.
func matchPlan(d *agent.Dialog, p *agent.Request) agent.Match {
	if p.Text == nil || len(beside(p.Raw, "plan", "planFilePath")) > 0 { // the dialog shows no other fields
		return agent.PartMatch
	}
	t := drawn.Text{Rows: strings.Split(d.Body, "\n"), Width: d.Cols - besideIndented, Markdown: true, Cut: d.Cut}
	return max(t.Of(planText(strings.Trim(*p.Text, "\n"))), agent.PartMatch)
}

var (
	heading  = pattern.New(`^ {0,3}#{1,6} +`)
	bullet   = pattern.New(`^( *)[*+] +`)
	emphasis = pattern.New("\\*\\*([^*`\n]+)\\*\\*|`([^`*\n]+)`")
)

// planText is a plan as the recordings have it drawn: headings, and what is bold or
// code, without their marks, a blank row below a heading, and each item of a list after
// a dash.
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
