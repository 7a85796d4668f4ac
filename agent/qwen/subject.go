package qwen

import "berth/agent"

// Subject reads the command or the change of a file from a tool's input.
func (Driver) Subject(p *agent.Request) (agent.Subject, bool) {
	if p.Type != agent.PromptPermission {
		return agent.Subject{}, false
	}
	return agent.ReadSubject(p.Raw, func(in agent.Input, s *agent.Subject) {
		switch agent.Value(p.Tool) {
		case toolShell:
			if t := in.TakeTexts("command"); t != nil {
				s.Command = t[0]
			}
		case toolWrite:
			if t := in.TakeTexts("file_path", "content"); t != nil {
				s.Changes = []agent.Change{{File: t[0], Does: agent.Writes, Text: &t[1]}}
			}
		case toolEdit:
			if t := in.TakeTexts("file_path", "old_string", "new_string"); t != nil {
				edit := agent.Edit{Old: t[1], New: t[2], Every: in.TakeFlag("replace_all")}
				s.Changes = []agent.Change{{File: t[0], Does: agent.Edits, Edits: []agent.Edit{edit}}}
			}
		}
	})
}
