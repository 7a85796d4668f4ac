package copilot

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"berth/agent"
	"berth/agent/forks"
)

// Names of tools in the session log.
const (
	toolShell  = "bash"
	toolCreate = "create"
	toolEdit   = "edit"
	toolAsk    = "ask_user"
)

// Kinds of permissions in the session log.
const (
	kindShell = "shell"
	kindWrite = "write"
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
}

// fact completes the fact of a permission. Kinds that weren't measured are left to their dialogs.
func (a *asked) fact(f *agent.Fact) {
	if a == nil {
		return
	}
	f.Evidence = a.Kind
	input := map[string]any{}
	switch a.Kind {
	case kindShell:
		f.Tool, input["command"], input["description"] = toolShell, a.Command, a.Intention
		switch folders := a.folders(); len(folders) {
		case 0:
		case 1:
			input[workingDirectory] = folders[0]
		default:
			input[workingDirectory] = folders
		}
	case kindWrite:
		f.Tool, input["path"] = toolEdit, a.File
		if a.Intention == titleCreate {
			f.Tool, input["file_text"] = toolCreate, a.Text
		} else {
			input["diff"] = a.Diff
		}
	default:
		return
	}
	raw, err := json.Marshal(input)
	if err != nil { // texts always encode
		return
	}
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
		if s.Folder != "" && !slices.Contains(all, s.Folder) {
			all = append(all, s.Folder)
		}
	}
	return all
}

// permission makes the prompt of a tool's permission. Its options depend on the call, so it has none until
// the dialog shows them.
func permission(tool string, input json.RawMessage) *agent.Request {
	r := &agent.Request{
		Type: agent.PromptPermission, Tool: agent.Pointer(tool), Options: []string{}, OptionsFallback: true, Modal: true, Channel: agent.ChannelKeys, Raw: input,
	}
	var subject, says string
	in, err := agent.ReadInput(input)
	if err == nil {
		err = in.Texts(map[string]*string{subjects[tool]: &subject, "description": &says})
	}
	switch {
	case len(input) == 0:
	case err != nil:
		r.Text = agent.Pointer(agent.Unreadable)
		r.SetInput(agent.Compact(input))
	case subject == "":
		r.SetInput(agent.Compact(input))
	case tool == toolShell:
		r.Text = agent.Pointer(says)
		r.SetInput(subject)
	default:
		r.SetInput(subject)
		r.FullInput = agent.Compact(input)
		r.InputBytes, r.InputTruncated = len(r.FullInput), true
	}
	return r
}

// subjects are the fields that name what these tools work on.
var subjects = map[string]string{toolShell: "command", toolCreate: "path", toolEdit: "path"}

// call is what a call would ask, if Copilot asks about it: only the permission has the folder. It is nil for tools
// whose dialogs weren't measured.
func call(tool string, input json.RawMessage) *agent.Request {
	if subjects[tool] == "" {
		return nil
	}
	return permission(tool, input)
}

// Waiting makes the prompt of a tool call.
func (Driver) Waiting(f *agent.Fact) *agent.Request { return permission(f.Tool, f.Input) }

// WithCall adds the fields that only the call has. The permission has a change as a diff.
func (Driver) WithCall(p *agent.Request, input json.RawMessage) *agent.Request {
	in, err := agent.ReadInput(p.Raw)
	if err != nil {
		return p
	}
	more, err := agent.ReadInput(input)
	whole := maps.Clone(in)
	for name, value := range more {
		if whole[name] == nil && name != "old_str" && name != "new_str" {
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

// Undrawn are the fields of a tool's input that no dialog draws. A command that runs in the session's folder
// needs no line for it.
func (Driver) Undrawn(tool string, input json.RawMessage, dir string) string {
	in, err := agent.ReadInput(input)
	switch {
	case err != nil: // an unreadable input is shown as such
	case tool == toolShell:
		if folder, err := in.Text(workingDirectory); err == nil && folder != nil && path.Clean(*folder) == path.Clean(dir) {
			delete(in, workingDirectory)
		}
		return forks.UndrawnOfCommand(in)
	case tool == toolCreate, tool == toolEdit:
		return forks.UndrawnOfEdit(in)
	}
	return ""
}

// FromDialog makes the prompt of a dialog that no other source reported.
func (d Driver) FromDialog(dialog *agent.Dialog) *agent.Request {
	r := &agent.Request{
		Type: dialog.Type, Subtype: agent.Pointer(dialog.Subtype), Tool: agent.Pointer(dialog.Tool), Modal: true, Channel: agent.ChannelKeys, Alike: dialog.Alike,
	}
	if r.Type == agent.PromptPermission && dialog.Subtype == "" && dialog.Asked != "" {
		r.SetInput(dialog.Asked)
	}
	if r.Type == agent.PromptQuestion {
		q := agent.Question{Header: strings.Join(dialog.Tabs, " "), Text: dialog.Body, Options: dialog.Labels(), Descriptions: make([]string, len(dialog.Options))}
		r.Questions = []agent.Question{q}
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

// Subject reads the command or the change from a tool's input.
func (Driver) Subject(p *agent.Request) (agent.Subject, bool) {
	if p.Type != agent.PromptPermission {
		return agent.Subject{}, false
	}
	return agent.ReadSubject(p.Raw, func(in agent.Input, s *agent.Subject) {
		switch agent.Value(p.Tool) {
		case toolShell:
			if texts := in.TakeTexts("command"); texts != nil {
				s.Command = texts[0]
			}
		case toolCreate:
			if texts := in.TakeTexts("path", "file_text"); texts != nil {
				s.Changes = []agent.Change{{File: texts[0], Does: agent.Adds, Text: &texts[1]}}
			}
		case toolEdit: // as the model calls it, or as the permission reports it
			if texts := in.TakeTexts("path", "old_str", "new_str"); texts != nil {
				s.Changes = []agent.Change{{File: texts[0], Does: agent.Edits, Edits: []agent.Edit{{Old: texts[1], New: texts[2]}}}}
			} else if texts := in.TakeTexts("path", "diff"); texts != nil {
				s.Changes = []agent.Change{{File: texts[0], Does: agent.Edits, Patch: patch(texts[1])}}
			}
		}
	})
}

// patch has the lines of a diff from its first hunk on. The names of files are above it.
func patch(diff string) (lines []agent.PatchLine) {
	for line := range strings.Lines(diff) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "@@"), strings.HasPrefix(line, `\`):
			lines = append(lines, agent.PatchLine{Sign: '@', Text: line})
		case line != "" && len(lines) > 0:
			lines = append(lines, agent.PatchLine{Sign: line[0], Text: line[1:]})
		}
	}
	return lines
}
