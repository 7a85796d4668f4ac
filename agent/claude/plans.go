package claude

import (
	"regexp"
	"strings"

	"berth/agent"
)

// matchPlan: a plan is drawn as what its Markdown means. What its marks are is taken off
// as told alone: one that is drawn otherwise, or not to its end, is not answered by keys.
func matchPlan(d *agent.Dialog, p *agent.Request) agent.Match {
	if !d.Cut && (p.Text == nil || planText(*p.Text) == strings.Join(strings.Fields(d.Body), " ")) {
		return agent.WholeMatch
	}
	return agent.PartMatch
}

var (
	heading  = regexp.MustCompile(`^\s*#{1,6}\s+`)
	bullet   = regexp.MustCompile(`^(\s*)[*+]\s+`)
	emphasis = regexp.MustCompile("\\*\\*([^*`\n]+)\\*\\*|`([^`*\n]+)`")
)

// planText is a plan as the recordings have it drawn, word by word: headings, and what
// is bold or code, without their marks, and each item of a list after a dash.
func planText(plan string) string {
	var out []string
	for _, line := range strings.Split(plan, "\n") {
		line = bullet.ReplaceAllString(heading.ReplaceAllString(line, ""), "$1- ")
		out = append(out, strings.Fields(emphasis.ReplaceAllString(line, "$1$2"))...)
	}
	return strings.Join(out, " ")
}
