package forks

import "berth/agent"

// Names of the tools that both agents have.
const (
	ToolShell = "run_shell_command"
	ToolWrite = "write_file"
)

// Subject reads the command or the change of a file from a tool's input. edit is the name of the tool that edits
// a file, and every its field for all places.
func Subject(p *agent.Request, edit, every string) (agent.Subject, bool) {
	if p.Type != agent.PromptPermission {
		return agent.Subject{}, false
	}
	return agent.ReadSubject(p.Raw, func(in agent.Input, s *agent.Subject) {
		switch agent.Value(p.Tool) {
		case ToolShell:
			if t := in.TakeTexts("command"); t != nil {
				s.Command = t[0]
			}
		case ToolWrite:
			if t := in.TakeTexts("file_path", "content"); t != nil {
				s.Changes = []agent.Change{{File: t[0], Does: agent.Writes, Text: &t[1]}}
			}
		case edit:
			if t := in.TakeTexts("file_path", "old_string", "new_string"); t != nil {
				edit := agent.Edit{Old: t[1], New: t[2], Every: in.TakeFlag(every)}
				s.Changes = []agent.Change{{File: t[0], Does: agent.Edits, Edits: []agent.Edit{edit}}}
			}
		}
	})
}
