package claude

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"berth/agent"
	"berth/agent/pattern"
)

// Match says how much of the prompt the dialog shows.
func (Driver) Match(d *agent.Dialog, p *agent.Request) agent.Match {
	return agent.Matchers{Question: matchQuestion, Form: matchForm, Plan: matchPlan, Permission: matchPermission}.Match(d, p)
}

// at most how much of it two parts of a dialog show together.
func both(a, b agent.Match) agent.Match { return min(a, b) }

// matchPermission compares the dialog with what the prompt has shown of it. If the dialog says
// something else besides its subject, the prompt has shown only a part of it.
func matchPermission(d *agent.Dialog, p *agent.Request) agent.Match {
	m := matchCall(d, p)
	if m > agent.PartMatch && saysElse(d, p) {
		m = agent.PartMatch
	}
	return m
}

// matchCall compares the rows between a dialog's title and its question with the tool's input.
func matchCall(d *agent.Dialog, p *agent.Request) agent.Match {
	tool := agent.Value(p.Tool)
	switch {
	case tool == "Bash" && d.Tool == "Edit":
		return agent.MatchIf(d.Agent == agent.Value(p.Agent) && editsBySed(d, p.Raw), agent.PartMatch)
	case tool == "" || d.Tool != "" && d.Tool != tool:
		return agent.MatchIf(tool == "", agent.PartMatch)
	case d.Title != "" && !asksAs(d, agent.Value(p.Agent)):
		return agent.NoMatch
	}
	in, ok := readInput(tool, p.Raw)
	if !ok {
		return agent.NoMatch // the hook had no input
	}
	rows := readDrawn(d)
	if d.Tool == "" { // its title has no room, or the tool has no title of its own
		switch tool {
		case "Bash":
			return both(rows.command(in.Command, in.Description), agent.PartMatch)
		case "Write":
			return agent.MatchIf(in.Content != nil && (d.Cut || rows.content(*in.Content) != agent.NoMatch), agent.PartMatch)
		case "Edit":
			return agent.MatchIf(in.Old != nil && in.New != nil && (d.Cut || rows.edited(in) != agent.NoMatch), agent.PartMatch)
		}
		return agent.MatchIf(d.Cut || !ownTitle[tool], agent.PartMatch)
	}
	switch {
	case tool == "Bash" && !slices.Contains(usualQuestions, d.Question): // the question may ask for more than the command
		return both(rows.command(in.Command, in.Description), agent.PartMatch)
	case tool == "Bash":
		return rows.command(in.Command, in.Description)
	case beside(p.Raw, drawnFields[tool]...) != "" && len(drawnFields[tool]) > 0: // the dialog doesn't show these fields
		return agent.PartMatch
	case tool == "Edit" && in.Old != nil && in.New != nil:
		m := both(rows.file(d, in.Path), rows.edited(in))
		if in.ReplaceAll {
			m = both(m, agent.PartMatch) // the dialog doesn't show these fields
		}
		return m
	case tool == "Write" && in.Content != nil:
		m := agent.PartMatch // the dialog shows only the change of an existing file
		if d.Title == titles["Write"] {
			m = rows.content(*in.Content)
		}
		return both(rows.file(d, in.Path), m)
	case tool == "WebFetch":
		return rows.fetch(in.URL, in.Prompt)
	case strings.HasPrefix(tool, "mcp__"):
		return rows.mcp(tool, p.Raw)
	}
	return agent.PartMatch
}

// asksAs reports whether a subagent of that type may ask by the dialog. A workflow may choose the type of its subagents, and their
// dialogs name the workflow alone.
func asksAs(d *agent.Dialog, kind string) bool {
	return d.Agent == kind || d.Agent == workflowAgent && kind != ""
}

// sedEdit matches a command of sed that 2.1.197 draws as an edit: one substitution, in place, in one file.
var sedEdit = pattern.New(`^sed -i(?: -[Er])? (?:'s[^'\n]+'|"s[^"\n$` + "`" + `]+") ([^\s;|&<>$()'"` + "`" + `]+)$`)

// editsBySed reports whether the dialog of an edit may be that of such a command: it draws what the command would change in the file.
func editsBySed(d *agent.Dialog, raw json.RawMessage) bool {
	in, ok := readInput("Bash", raw)
	m := sedEdit.FindStringSubmatch(in.Command)
	return ok && m != nil && readDrawn(d).file(d, m[1]) != agent.NoMatch
}

// toolInput has the subjects of the tools' dialogs.
type toolInput struct {
	Command, Description, Path, URL, Prompt string
	Old, New, Content                       *string
	ReplaceAll                              bool
}

// readInput reads a tool's input. ok is false when it can't be read.
func readInput(tool string, raw json.RawMessage) (in toolInput, ok bool) {
	fields, err := agent.ReadInput(raw)
	if err != nil || !ownTitle[tool] { // other tools' fields may hold anything
		return in, err == nil
	}
	errs := []error{fields.Texts(map[string]*string{
		"command": &in.Command, "description": &in.Description, "file_path": &in.Path, "url": &in.URL, "prompt": &in.Prompt,
	})}
	for name, to := range map[string]**string{"old_string": &in.Old, "new_string": &in.New, "content": &in.Content} {
		*to, err = fields.Text(name)
		errs = append(errs, err)
	}
	if all, has := fields["replace_all"]; has {
		errs = append(errs, json.Unmarshal(all, &in.ReplaceAll))
	}
	return in, errors.Join(errs...) == nil
}

// drawnFields are the fields that a file's dialog draws, and those that are known to change nothing
// else.
var drawnFields = map[string][]string{
	"Edit": {"file_path", "old_string", "new_string", "replace_all"}, "Write": {"file_path", "content"},
}

// ownTitle are the tools whose dialogs have a title of their own.
var ownTitle = map[string]bool{"Bash": true, "Edit": true, "Write": true, "WebFetch": true}
