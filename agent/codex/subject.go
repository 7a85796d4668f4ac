package codex

import (
	"strings"

	"berth/agent"
)

// Subject reads the command or the patch from a tool's input.
func (Driver) Subject(p *agent.Request) (agent.Subject, bool) {
	if p.Type != agent.PromptPermission {
		return agent.Subject{}, false
	}
	return agent.ReadSubject(p.Raw, func(in agent.Input, s *agent.Subject) {
		text, err := in.Text("command")
		if err != nil || text == nil {
			return
		}
		switch agent.Value(p.Tool) {
		case toolCommand:
			s.Command = *text
		case toolPatch:
			if s.Changes = readPatch(*text); s.Changes == nil {
				return
			}
		default:
			return
		}
		delete(in, "command")
	})
}

// The lines that a patch begins, ends and divides its files with.
const (
	patchBegins  = "*** Begin Patch"
	patchEnds    = "*** End Patch"
	patchAdds    = "*** Add File: "
	patchUpdates = "*** Update File: "
	patchMoves   = "*** Move to: "
	patchFileEnd = "*** End of File"
)

// patchFiles say what a patch does to the file that they name.
var patchFiles = []struct {
	begins string
	does   agent.Does
}{{patchAdds, agent.Adds}, {patchUpdates, agent.Edits}, {"*** Delete File: ", agent.Deletes}}

// readPatch reads a patch in Codex's format. It is nil for a patch with any line that isn't of that
// format: such a patch is shown as the agent sent it. Codex reads an indented "*** Delete File: "
// after the lines of a new file as the next file, so a new file has lines with "+" alone.
func readPatch(patch string) []agent.Change {
	lines := strings.Split(strings.TrimSuffix(patch, "\n"), "\n")
	if len(lines) < 3 || lines[0] != patchBegins || lines[len(lines)-1] != patchEnds {
		return nil
	}
	var changes []agent.Change
lines:
	for _, line := range lines[1 : len(lines)-1] {
		for _, f := range patchFiles {
			if file, ok := strings.CutPrefix(line, f.begins); ok {
				changes = append(changes, agent.Change{File: file, Does: f.does})
				continue lines
			}
		}
		if len(changes) == 0 {
			return nil
		}
		c := &changes[len(changes)-1]
		to, moves := strings.CutPrefix(line, patchMoves)
		switch {
		case moves && c.Does == agent.Edits && c.To == "" && len(c.Patch) == 0:
			c.To = to
		case c.Does == agent.Edits && (line == patchFileEnd || strings.HasPrefix(line, "@@")):
			c.Patch = append(c.Patch, agent.PatchLine{Sign: '@', Text: line})
		case strings.HasPrefix(line, "+") && c.Does == agent.Adds,
			line != "" && strings.Contains("+- ", line[:1]) && c.Does == agent.Edits:
			c.Patch = append(c.Patch, agent.PatchLine{Sign: line[0], Text: line[1:]})
		default:
			return nil
		}
	}
	return changes
}
