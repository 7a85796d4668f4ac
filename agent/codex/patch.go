package codex

import (
	"encoding/json"
	"path"
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

// patchCommand matches the words before a patch that name no folder.
var patchCommand = pattern.New(`^apply_?patch <<-? ?['"]?\w+['"]?$`)

// Explain returns the words before the patch in its command, which may change the folder, and the
// command's folder.
func (d Driver) Explain(p *agent.Request, call *agent.Fact, dir string) (lines string, ok bool) {
	patch, _, err := readInput(p.Raw)
	command, _, err2 := readInput(call.Input)
	if patch = strings.TrimSpace(patch); err != nil || err2 != nil || patch == "" || call.Request == nil || !strings.Contains(command, patch) {
		return "", false
	}
	before, _, _ := strings.Cut(command, patch)
	if before = strings.TrimSpace(before); before != "" && !patchCommand.MatchString(before) {
		lines = "command: " + strconv.Quote(before) + "\n"
	}
	return strings.TrimSpace(lines + d.Undrawn(call.Tool, call.Request.Raw, dir)), true
}
