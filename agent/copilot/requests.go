package copilot

import (
	"encoding/json"
	"strings"

	"berth/agent"
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

// asked is a permission that Copilot asks a person for. The log has it when no rule decides.
type asked struct {
	Kind      string `json:"kind"`
	Call      string `json:"toolCallId"`
	Command   string `json:"fullCommandText"`
	Intention string `json:"intention"`
	File      string `json:"fileName"`
	Text      string `json:"newFileContents"`
	Diff      string `json:"diff"`

	raw json.RawMessage
}

// UnmarshalJSON keeps the whole object as well.
func (a *asked) UnmarshalJSON(raw []byte) error {
	type plain asked
	a.raw = append(json.RawMessage(nil), raw...)
	return json.Unmarshal(raw, (*plain)(a))
}

// fact completes the fact of a permission. Kinds that weren't measured are left to their dialogs.
func (a *asked) fact(f *agent.Fact) {
	if a == nil {
		return
	}
	f.Evidence = a.Kind
	input := map[string]string{}
	switch a.Kind {
	case kindShell:
		f.Tool, input["command"], input["description"] = toolShell, a.Command, a.Intention
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
	if err != nil { // strings always encode
		return
	}
	f.Kind, f.Call, f.Input = agent.Asked, a.Call, raw
	r := permission(f.Tool)
	r.Text, r.Raw = agent.Pointer(a.Intention), raw
	r.SetInput(input["command"] + input["path"])
	if a.Kind == kindWrite {
		r.FullInput, r.InputBytes, r.InputTruncated = a.Diff, len(a.Diff), true
	}
	f.Request = r
}

func permission(tool string) *agent.Request {
	return &agent.Request{
		Type: agent.PromptPermission, Tool: agent.Pointer(tool), Options: []string{}, OptionsFallback: true, Modal: true, Channel: agent.ChannelKeys,
	}
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
func (Driver) Fill(r *agent.Request, dialog *agent.Dialog) {
	r.ShownBy(dialog)
	switch {
	case len(r.Raw) > 0:
	case dialog.Tool == toolShell: // what the command is for, as the log has it
		r.Text = agent.Pointer(dialog.Question)
	default:
		r.Text = agent.Pointer(dialog.Body)
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
