package codex

import (
	"encoding/json"
	"path"

	"berth/agent"
)

// workdir is the field of a tool's input that names the folder it runs in. Codex's own tool has that
// name for it, and takes it out of the input that hooks get.
const workdir = "workdir"

// inFolder is a tool's input with the folder that it runs in, which a hook reports beside the input.
// With it two calls that differ in the folder alone are two prompts.
func inFolder(input json.RawMessage, dir string) json.RawMessage {
	fields, err := agent.ReadInput(input)
	if err != nil || dir == "" || fields[workdir] != nil {
		return input
	}
	if fields[workdir], err = json.Marshal(dir); err != nil { // a string has an encoding
		return input
	}
	out, err := json.Marshal(fields)
	if err != nil {
		return input
	}
	return out
}

// Undrawn is the folder, if it isn't the session's.
func (Driver) Undrawn(_ string, input json.RawMessage, dir string) string {
	fields, err := agent.ReadInput(input)
	if err != nil {
		return ""
	}
	folder, err := fields.Text(workdir)
	if err != nil || agent.Value(folder) == "" || path.Clean(*folder) == path.Clean(dir) {
		return ""
	}
	return workdir + ": " + agent.Compact(fields[workdir])
}
