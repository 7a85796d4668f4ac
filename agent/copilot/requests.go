package copilot

import (
	"encoding/json"
	"maps"
	"path"
	"strconv"
	"strings"

	"berth/agent"
	"berth/agent/drawn"
	"berth/agent/forks"
)

// Names of tools in the session log.
const (
	toolShell  = "bash"
	toolCreate = "create"
	toolEdit   = "edit"
	toolAsk    = "ask_user"
	toolPatch  = "apply_patch"
)

// Kinds of permissions in the session log.
const (
	kindShell  = "shell"
	kindWrite  = "write"
	kindServer = "mcp" // a server's tool
)

// Kinds of dialogs in the session log that draw a part of the call alone. They come ahead of the call's own dialog, or in its place.
const (
	drawsPaths = "path"
	drawsURL   = "url"
)

// partOf has them by the questions that they ask.
var partOf = map[string]string{askPath: drawsPaths, askURL: drawsURL}

// Fields that the session log has elsewhere: what such a dialog draws, and the file that goes away when a file is moved.
const (
	partDrawn = "promptRequest"
	movedFrom = "movedFrom"
)

// workingDirectory is the field for the folder that a command runs in. No dialog draws it.
const workingDirectory = "workingDirectory"

// asked is a permission that Copilot asks a person for. The log has it when no rule decides.
type asked struct {
	Kind      string `json:"kind"`
	Call      string `json:"toolCallId"`
	Command   string `json:"fullCommandText"`
	Intention string `json:"intention"`
	Segments  []struct {
		Folder string `json:"workingDirectory"`
	} `json:"commandSegments"`
	File string `json:"fileName"`
	Text string `json:"newFileContents"`
	Diff string `json:"diff"`

	Tool string          `json:"toolName"` // of a server
	Args json.RawMessage `json:"args"`
}

// fact completes the fact of a permission. Of a kind that isn't drawn in a way of its own, the input is all that the log has. The
// permission for an address may be that of a command.
func (a *asked) fact(f *agent.Fact, all agent.Input, dialog json.RawMessage) {
	if a.Kind == "" {
		return
	}
	f.Evidence = a.Kind
	input := map[string]any{}
	forks.AddPart(input, partDrawn, dialog, drawsPaths, drawsURL)
	switch {
	case a.Kind == kindShell, a.Command != "":
		f.Tool, input["command"], input["description"] = toolShell, a.Command, a.Intention
		if folders := a.folders(); len(folders) == 1 {
			input[workingDirectory] = folders[0]
		} else if len(folders) > 1 {
			input[workingDirectory] = folders
		}
	case a.Kind == kindWrite:
		f.Tool, input["path"] = toolEdit, a.File
		if from := forks.OldName(a.Diff); from != "" && from != a.File {
			input[movedFrom] = from
		}
		if a.Intention == titleCreate {
			f.Tool, input["file_text"] = toolCreate, a.Text
		} else {
			input["diff"] = a.Diff
		}
	default:
		delete(all, "toolCallId")
		f.Kind, f.Call, f.Tool, f.Input = agent.Asked, a.Call, a.Kind, agent.Encoded(all)
		if a.Kind == kindServer {
			f.Tool, f.Input = a.Tool, a.Args
		}
		f.Request = permission(f.Tool, f.Input)
		forks.AddPart(all, partDrawn, dialog, drawsPaths, drawsURL)
		f.Request.Raw = agent.Encoded(all)
		return
	}
	raw := agent.Encoded(input)
	f.Kind, f.Call, f.Input = agent.Asked, a.Call, raw
	f.Request = permission(f.Tool, raw)
	f.Request.Text = agent.Pointer(a.Intention)
	if a.Kind == kindWrite {
		f.Request.FullInput, f.Request.InputBytes = a.Diff, len(a.Diff)
	}
}

// folders are the folders that the parts of the command run in, each once.
func (a *asked) folders() (all []string) {
	for _, s := range a.Segments {
		all = forks.Once(all, s.Folder)
	}
	return all
}

// permission makes the prompt of a tool's permission.
func permission(tool string, input json.RawMessage) *agent.Request {
	r := forks.Permission(tool, "", input)
	_, says, err := forks.ReadCommand(input)
	if tooling.SetInput(r, tool, input); tool != toolShell || r.Text != nil {
		return r
	}
	if r.Text = agent.Pointer(says); err != nil && len(input) > 0 {
		r.Text = agent.Pointer(agent.Unreadable)
		r.SetInput(agent.Compact(input))
	}
	return r
}

// tooling has the tools with measured dialogs.
var tooling = forks.Tools{
	Shell: toolShell, Write: toolCreate, Edit: toolEdit, File: "path", Text: "file_text", Old: "old_str", New: "new_str", Writes: agent.Adds,
}

// call is what a call would ask, if Copilot asks about it: only the permission has the folder. It is nil for tools
// whose dialogs weren't measured, and for a patch whose dialogs leave nothing out. The permission has a file's whole text three times, and
// Berth doesn't read a line that is too long.
func call(tool string, input json.RawMessage) *agent.Request {
	if tool == toolPatch {
		tool, input = tooling.OfPatch(input, movedFrom)
	}
	if tool != toolShell && !tooling.Changes(tool) {
		return nil
	}
	return permission(tool, input)
}

// Waiting makes the prompt of a tool call.
func (Driver) Waiting(f *agent.Fact) *agent.Request { return permission(f.Tool, f.Input) }

// WithCall adds the fields that only the call has. The permission has a change as a diff.
func (Driver) WithCall(p *agent.Request, input json.RawMessage) *agent.Request {
	in, err := agent.ReadInput(p.Raw)
	if err != nil || in.Words("kind") == kindServer {
		return p
	}
	more, err := agent.ReadInput(input)
	whole := maps.Clone(in)
	for name, value := range more {
		if whole[name] == nil && name != "old_str" && name != "new_str" && name != partDrawn {
			whole[name] = value
		}
	}
	raw, _ := json.Marshal(whole)                                   // JSON always encodes
	if _, both := agent.ReadInput(raw); err != nil || both != nil { // names that differ in letter case
		in["call"] = input
		raw, _ = json.Marshal(in)
	}
	p = p.Clone()
	p.Raw = raw
	return p
}

// AsksInPart reports whether the log has the part that the dialog draws.
func (Driver) AsksInPart(p *agent.Request) bool {
	in, _ := agent.ReadInput(p.Raw)
	return in[partDrawn] != nil
}

// Undrawn are the fields of a tool's input that no dialog draws. A command that runs in the session's folder
// needs no line for it. Of other permissions it is the whole input if it has a character that Copilot doesn't draw. A server's tool is
// drawn by a title that the server gives it. A dialog about paths or an address draws no field of a command or a change.
func (Driver) Undrawn(tool string, input json.RawMessage, dir string) string {
	in, _ := agent.ReadInput(input) // an unreadable one is shown as such
	if folder := in.Words(workingDirectory); tool == toolShell && folder != "" && path.Clean(folder) == path.Clean(dir) {
		delete(in, workingDirectory)
	}
	switch {
	case in[partDrawn] != nil:
		return forks.Joined(forks.Fields(in, partDrawn, "description"), forks.MovedOver(in, movedFrom))
	case tool == toolShell:
		return forks.UndrawnOfCommand(in)
	case tooling.Changes(tool):
		return forks.Joined(tooling.BlanksOfChange(in), forks.UndrawnOfEdit(in, movedFrom), forks.MovedOver(in, movedFrom))
	case in.Words("kind") == kindServer && !strings.HasSuffix(tool, "-"+in.Words("toolTitle")):
		return "input: " + strconv.QuoteToASCII(agent.Compact(input))
	}
	return forks.UndrawnInSome(input)
}

// FromDialog makes the prompt of a dialog that no other source reported.
func (d Driver) FromDialog(dialog *agent.Dialog) *agent.Request {
	r := forks.Drawn(dialog)
	if r.Type == agent.PromptPermission && dialog.Subtype == "" && dialog.Asked != "" {
		r.SetInput(dialog.Asked)
	}
	if partOf[dialog.Title] != "" { // until its call is known
		box, _ := drawn.InnerBox(strings.Split(dialog.Body, "\n"))
		r.SetInput(strings.Join(box, "\n"))
		r.SetInPart()
	}
	if r.Type == agent.PromptQuestion {
		r.Questions = []agent.Question{{Header: strings.Join(dialog.Tabs, " "), Text: dialog.Body, Options: dialog.Labels(), Descriptions: make([]string, len(dialog.Options))}}
	}
	d.Fill(r, dialog)
	return r
}

// Fill adds what only the dialog shows: its options, and for a prompt that no log reported its text.
// What the dialog doesn't draw stays below that.
func (Driver) Fill(r *agent.Request, dialog *agent.Dialog) {
	r.ShownBy(dialog)
	text := dialog.Body
	if dialog.Tool == toolShell {
		text = dialog.Question // what the command is for, as the log has it
	}
	if len(r.Raw) == 0 && (r.Type != agent.PromptPermission || r.Text == nil || !strings.HasPrefix(*r.Text, text)) {
		r.Text = agent.Pointer(text)
	}
}

// Subject reads the command or the change from a tool's input, as the model calls it or as the permission reports it.
func (Driver) Subject(p *agent.Request) (agent.Subject, bool) { return tooling.Subject(p) }
