package sessions

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"berth/agent"
	"berth/api"
	"berth/sessions/hold"
)

// inferAgent finds the driver that a command calls for: by the name said, or
// by the program's.
func (r *Registry) inferAgent(spec Spec) (Spec, error) {
	switch {
	case spec.Agent == "" && len(spec.Command) > 0:
		spec.Agent = agent.Generic
		if name := filepath.Base(spec.Command[0]); r.options.Drivers[name] != nil {
			spec.Agent = name
		}
	case spec.Agent == "":
		spec.Agent = agent.Generic
	case spec.Agent != agent.Generic && r.options.Drivers[spec.Agent] == nil:
		return spec, api.Errorf(api.CodeNoDriver, "berth has no driver for the agent %s yet: leave --agent out to run it as any program", api.Quote(spec.Agent))
	}
	if len(spec.Command) == 0 {
		spec.Command = []string{r.options.Environment.Shell}
		if l, ok := r.options.Drivers[spec.Agent].(agent.Launcher); ok {
			spec.Command = l.Command()
		}
	}
	if r.options.Drivers[spec.Agent] != nil && spec.Conversation == "" {
		spec.Conversation = newConversation()
	}
	return spec, nil
}

// newConversation makes a version 4 UUID, which is what agents name their
// conversations by.
func newConversation() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// prepare readies a program for its agent's driver: the command, environment
// and files by which the agent tells of itself. A program without a driver
// stays as it is.
func (s *Session) prepare(spec Spec, prog program) (program, agent.Launch, error) {
	l, ok := s.reg.options.Drivers[spec.Agent].(agent.Launcher)
	if !ok {
		return prog, agent.Launch{}, nil
	}
	hook, err := hold.LinkHook(s.dir, s.reg.options.Exe)
	if err != nil {
		return prog, agent.Launch{}, fmt.Errorf("link the program of the hooks: %w", err)
	}
	launch, err := l.Launch(agent.Start{
		Argv: prog.argv, Env: EnvMap(prog.env), Folder: s.dir, Hook: hook, Conversation: spec.Conversation, Resume: spec.Spoken,
	})
	if err != nil {
		return prog, launch, fmt.Errorf("prepare %s: %w", spec.Agent, err)
	}
	for path, data := range launch.Files {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return prog, launch, fmt.Errorf("write %s: %w", path, err)
		}
	}
	prog.argv = launch.Argv
	prog.env = slices.DeleteFunc(slices.Clone(prog.env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return spec.Env[name] == "" && unsets(launch.Unset, name)
	})
	for name, value := range launch.Set {
		prog.env = append(prog.env, name+"="+value)
	}
	return prog, launch, nil
}

// unsets says whether a name is to be left out of the environment.
func unsets(list []string, name string) bool {
	return slices.ContainsFunc(list, func(pattern string) bool {
		if stem, open := strings.CutSuffix(pattern, "*"); open {
			return strings.HasPrefix(name, stem)
		}
		return name == pattern
	})
}
