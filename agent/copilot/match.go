package copilot

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"berth/agent"
	"berth/agent/drawn"
	"berth/agent/forks"
)

// Match says how much of the prompt the dialog shows.
func (Driver) Match(d *agent.Dialog, p *agent.Request) agent.Match {
	return agent.Matchers{Question: matchQuestion, Permission: matchPermission}.Match(d, p)
}

// sides are the columns of a command's box beside its text: the sides of two boxes, and blanks.
const sides = 8

// matchPermission: a dialog shows all of a command, and above it what it is for. It shows a change of
// a file with the lines around it, so it is asked as it is drawn.
func matchPermission(d *agent.Dialog, p *agent.Request) agent.Match {
	in, _ := agent.ReadInput(p.Raw)
	tool, ofPart, file := agent.Value(p.Tool), in[partDrawn], in.Words(tooling.File)
	switch {
	case tool == "":
		return agent.PartMatch
	case d.Title == askServer:
		return agent.MatchIf(maybeServers(d, p), agent.PartMatch)
	case ofPart != nil, partOf[d.Title] != "":
		return agent.MatchIf(maybePart(d, p, ofPart), agent.PartMatch)
	case d.Tool == tool && tooling.Changes(tool):
		return agent.MatchIf(d.Cut || file == "" || forks.DrawsPath(forks.AskedFile(d.Title), file), agent.PartMatch)
	case d.Tool != tool, tool != toolShell:
		return agent.MatchIf(d.Tool == "" || d.Tool == tool, agent.PartMatch)
	}
	command, says, err := forks.ReadCommand(p.Raw)
	if err != nil && len(p.Raw) > 0 {
		return agent.NoMatch
	}
	if len(d.Sections) == 0 {
		return agent.MatchIf(d.Cut, agent.PartMatch)
	}
	match := drawn.Text{Rows: d.Sections, Width: d.Cols - sides, Shell: true, Cut: d.Cut}.Of(command)
	if match > agent.PartMatch && drawn.Squeeze(d.Question) != drawn.Squeeze(says) {
		return agent.PartMatch
	}
	return match
}

// maybeServers reports whether the dialog about a server's tool may draw this permission. It draws the tool's title, and the arguments as
// JSON, both over several rows. Characters that it doesn't draw may hide others, so a permission with such ones isn't compared.
func maybeServers(d *agent.Dialog, p *agent.Request) bool {
	in, err := agent.ReadInput(p.Raw)
	box, title := drawn.InnerBox(strings.Split(d.Body, "\n"))
	return err != nil || in.Words("kind") == kindServer && (d.Cut || forks.UndrawnInSome(p.Raw) != "" || drawn.Squeeze(title) == drawn.Squeeze(in.Words("toolTitle")) && (len(box) == 0 || drawn.Letters(strings.Join(box, "")) == drawn.Letters(p.FullInput)))
}

// maybePart reports whether the dialog may be the one that draws only that part of the call, its paths or its address. Without such a part
// the permission has a dialog of its own. Only a command or a change with characters that aren't drawn may be any. Copilot draws control characters in ways that weren't measured.
func maybePart(d *agent.Dialog, p *agent.Request, part json.RawMessage) bool {
	var draws struct {
		Kind, URL string
		Paths     []string
	}
	if d.Tool != "" || part == nil || json.Unmarshal(part, &draws) != nil {
		return d.Tool == "" && forks.Hides(p.Raw) && call(agent.Value(p.Tool), p.Raw) != nil
	}
	body, kind, texts := drawn.Letters(d.Body), partOf[d.Title], append(draws.Paths, draws.URL)
	other := func(text string) bool { return !strings.Contains(body, drawn.Letters(text)) }
	unsure := d.Cut || strings.ContainsFunc(strings.Join(texts, ""), unicode.IsControl)
	return (kind == "" || kind == draws.Kind) && (unsure || !slices.ContainsFunc(texts, other))
}

// matchQuestion: only the dialog shows a question.
func matchQuestion(d *agent.Dialog, p *agent.Request) agent.Match {
	return agent.MatchIf(len(p.Questions) == 1 && p.Questions[0].Text == d.Body, agent.WholeMatch)
}
