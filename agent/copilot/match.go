package copilot

import (
	"encoding/json"
	"strings"

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
	tool := agent.Value(p.Tool)
	if d.Title == askServer && tool != "" {
		return agent.MatchIf(maybeServers(d, p), agent.PartMatch)
	}
	if tool == "" || d.Tool != tool {
		return agent.MatchIf(tool == "" || d.Tool == "", agent.PartMatch)
	}
	if tool != toolShell {
		return agent.PartMatch
	}
	command, says, err := readCommand(p.Raw)
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

// maybeServers reports whether the dialog about a server's tool may draw this permission. It draws the arguments as JSON, over several
// rows. Characters that it doesn't draw may hide others, so arguments with such ones aren't compared.
func maybeServers(d *agent.Dialog, p *agent.Request) bool {
	in, err := agent.ReadInput(p.Raw)
	rows, _ := innerBox(strings.Split(d.Body, "\n"))
	return err != nil || in.Words("kind") == kindServer && (d.Cut || len(rows) == 0 || forks.UndrawnInSome(p.Raw) != "" || drawn.Letters(strings.Join(rows, "")) == drawn.Letters(p.FullInput))
}

func readCommand(raw json.RawMessage) (command, says string, err error) {
	in, err := agent.ReadInput(raw)
	if err == nil {
		err = in.Texts(map[string]*string{"command": &command, "description": &says})
	}
	return command, says, err
}

// matchQuestion: only the dialog shows a question.
func matchQuestion(d *agent.Dialog, p *agent.Request) agent.Match {
	return agent.MatchIf(len(p.Questions) == 1 && p.Questions[0].Text == d.Body, agent.WholeMatch)
}
