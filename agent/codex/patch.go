package codex

import (
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"berth/agent"
	"berth/agent/pattern"
)

// Codex takes a patch out of a command such as "cd FOLDER && apply_patch <<'EOF'" and asks about the
// edits. The hook reports the patch alone, and the session's folder in place of the one that the patch's
// names are relative to. The call's own hook, before it, has the whole command and its folder.

// holdsPatch reports whether a command has a patch within it.
func holdsPatch(input json.RawMessage) bool {
	command, _, err := readInput(input)
	return err == nil && strings.Contains(command, patchBegins)
}

// NeedsCall: a patch with a relative name doesn't say which file it edits.
func (Driver) NeedsCall(p *agent.Request) bool {
	patch, _, err := readInput(p.Raw)
	return agent.Value(p.Tool) == toolPatch && (err != nil || !absolute(patch))
}

// absolute reports whether all files of a patch have absolute names.
func absolute(patch string) bool {
	for line := range strings.Lines(patch) {
		line = strings.TrimSpace(line)
		name, is := strings.CutPrefix(line, patchMoves)
		for _, f := range patchFiles {
			if file, ok := strings.CutPrefix(line, f.begins); ok {
				name, is = file, true
			}
		}
		if is && !path.IsAbs(strings.TrimSpace(name)) {
			return false
		}
	}
	return true
}

// lineEnds is what a patch does beyond its own lines. A CR at the end of a line can make another command of it, such as of one that a
// backslash continues.
const lineEnds = "Added lines end as most lines of their file do: each may get a CR."

// beyond says what a patch may do that its lines don't show. Codex reads the lines that begin a file also when they are indented.
func beyond(patch string) string {
	var says []string
	lines := strings.Split(patch, "\n")
	begins := func(with string) bool {
		return slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), with) })
	}
	if returnMatters(lines) {
		says = append(says, lineEnds)
	}
	if begins(patchAdds) || begins(patchMoves) {
		says = append(says, agent.Replaces)
	}
	return strings.Join(says, "\n")
}

// returnMatters reports whether a CR at the end of a line that a patch adds to a file may change what that does.
func returnMatters(lines []string) bool {
	var names []string // of the file, until the next one begins
	added := ""
	for _, line := range append(lines, patchEnds) {
		line = strings.TrimSpace(line)
		switch name, moves := strings.CutPrefix(line, patchMoves); {
		case moves:
			names = append(names, name)
		case line == patchFileEnd:
		case strings.HasPrefix(line, "*** "):
			if slices.ContainsFunc(names, func(name string) bool { return added != "" && agent.ReturnMatters(name, added) }) {
				return true
			}
			names, added = nil, ""
			if name, updates := strings.CutPrefix(line, patchUpdates); updates {
				names = []string{name}
			}
		case len(names) > 0 && strings.HasPrefix(line, "+"):
			added += line[1:] + "\n"
		}
	}
	return false
}

// patchCommand matches the words before a patch that name no folder.
var patchCommand = pattern.New(`^apply_?patch <<-? ?['"]?\w+['"]?$`)

// Explains returns the patch within a command, and the command's folder. The words before the patch may
// change the folder.
func (d Driver) Explains(call *agent.Fact, dir string) (subject, brief, all string) {
	command, _, err := readInput(call.Input)
	begins, ends := strings.Index(command, patchBegins), strings.LastIndex(command, patchEnds)
	if err != nil || begins < 0 || ends < begins || call.Request == nil {
		return "", "", ""
	}
	words := ""
	if before := strings.TrimSpace(command[:begins]); before != "" && !patchCommand.MatchString(before) {
		words = "command: " + strconv.Quote(before) + "\n"
	}
	input := withChosen(located(call.Request.Raw, dir), nil) // no shell runs a patch
	lines := func(dir string) string { return strings.TrimSpace(words + d.Undrawn(call.Tool, input, dir)) }
	return command[begins : ends+len(patchEnds)], lines(dir), lines("")
}

// Explained is the patch.
func (Driver) Explained(p *agent.Request) string {
	patch, _, err := readInput(p.Raw)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(patch)
}
