package claude

import (
	"encoding/json"

	"berth/agent"
)

// A command that changes its folder leaves later commands there, also those of later turns. No dialog draws the folder. Hooks and the
// session log have it as cwd. The paths of files are whole paths.

// workdir is the field of a command's input that Berth adds for the folder.
const workdir = "workdir"

// unknownFolder is in the place of a folder that isn't known.
const unknownFolder = "not known: a command before this one may change it"

// moves are the tools that run in that folder, or change it.
var moves = map[string]bool{"Bash": true, "PowerShell": true, "Monitor": true, "EnterWorktree": true, "ExitWorktree": true}

// folderOf is the folder of a tool's call, for tools that run in it.
func folderOf(tool, cwd string) string {
	if !moves[tool] {
		return ""
	}
	return cwd
}

// InFolder adds the folder to the input, and to the prompt about it. The model may have chosen a field of that name, which does nothing.
func (Driver) InFolder(f *agent.Fact, folder string, usual bool) *agent.Fact {
	in, err := agent.ReadInput(f.Input)
	if err != nil || usual && in[workdir] == nil {
		return f
	}
	if folder == "" {
		folder = unknownFolder
	}
	in[workdir] = agent.Encoded(folder)
	placed := *f
	placed.Input = agent.Encoded(map[string]json.RawMessage(in))
	if f.Request != nil {
		placed.Request = request(f.Tool, placed.Input, f.AgentType)
	}
	return &placed
}
