package sessions

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"berth/agent"
	"berth/api"
	"berth/sessions/account"
	"berth/sessions/gates/gate"
	"berth/sessions/hold"
	"berth/sessions/loop"
)

// SetDrivers gives the server other drivers: sessions that there are go on with
// them. Those that have not changed go on as they did.
func (r *Registry) SetDrivers(ctx context.Context, drivers map[string]agent.Driver) error {
	r.known.Store(&drivers)
	var errs []error
	for _, s := range r.All() {
		errs = append(errs, s.do(ctx, func(c *core) { c.refit() }))
	}
	return errors.Join(errs...)
}

// refit goes on with the driver that the session has now.
func (c *core) refit() {
	c.kernel.Changed()
	if _, fits := c.s.reg.drivers()[c.spec.Agent].(agent.ForCommand); fits {
		c.track.Refit()
	}
}

// checkRules refuses rules that don't exist, and rules that the session would not use.
func (r *Registry) checkRules(spec *Spec) error {
	if spec.Rules == "" {
		return nil
	}
	f, ok := r.drivers()[spec.Agent].(agent.ForCommand)
	if !ok {
		return api.Errorf(api.CodeBadRequest, "rules are for programs that berth has no driver for: %s has one; leave rules out", spec.Agent)
	}
	known := f.Rules()
	if slices.Contains(known, spec.Rules) {
		return nil
	}
	there := "it has none"
	if len(known) > 0 {
		there = "there are " + strings.Join(known, ", ")
	}
	return api.Errorf(api.CodeNotFound, "berth.yaml has no rules %s: %s", api.Quote(spec.Rules), there)
}

// inferAgent finds the driver that a command calls for: by the name said, or
// by the program's. Without either it is the shell.
func (r *Registry) inferAgent(spec Spec, shell string) (Spec, error) {
	switch {
	case spec.Agent == "" && len(spec.Command) > 0:
		spec.Agent = r.agentOf(spec.Command[0])
	case spec.Agent == "":
		spec.Agent = agent.Generic
	case spec.Agent != agent.Generic && r.drivers()[spec.Agent] == nil:
		return spec, api.Errorf(api.CodeNoDriver, "berth has no driver for the agent %s yet: leave --agent out to run it as any program", api.Quote(spec.Agent))
	}
	if len(spec.Command) == 0 {
		spec.Command = []string{shell}
		if l, ok := r.driver(spec).(agent.Launcher); ok {
			spec.Command = l.Command()
		}
	}
	return spec, r.forAgent(&spec)
}

// Fitting leaves out of a spec what its program has no use for: an agent's fields of
// a program without a driver, and a first message to one that takes none. Defaults
// of all sessions are meant for those that they fit.
func (r *Registry) Fitting(spec Spec) Spec {
	if spec.Agent == "" && len(spec.Command) > 0 {
		spec.Agent = r.agentOf(spec.Command[0])
	}
	driver := r.driver(spec)
	if _, ok := driver.(agent.Launcher); !ok {
		spec.Conversation, spec.TakeUp, spec.Settings, spec.MCP = "", "", nil, nil
		spec.Gate, spec.Start = gate.Config{}, nil
	}
	if _, ok := driver.(agent.MessageTyper); !ok {
		spec.Prompt = ""
	}
	return spec
}

// agentOf is the agent that a command is by its name.
func (r *Registry) agentOf(command string) string {
	if name := filepath.Base(command); r.drivers()[name] != nil {
		return name
	}
	return agent.Generic
}

// forAgent settles what is of agents alone.
func (r *Registry) forAgent(spec *Spec) error {
	if err := r.checkRules(spec); err != nil {
		return err
	}
	driver := r.driver(*spec)
	if _, ok := driver.(agent.Launcher); ok {
		if spec.Gate.Closed() && !r.mayHold(*spec) {
			return cannotHold(*spec)
		}
		if len(spec.Start) > 0 && !r.mayHold(*spec) {
			return cannotBegin(*spec)
		}
		_, chooses := driver.(agent.ConversationIDChooser)
		if chooses && spec.Conversation != "" {
			return api.Errorf(api.CodeBadRequest, "%s chooses the ids of its conversations itself: leave conversation out; resume takes one up", spec.Agent)
		}
		// An agent that is left untouched chooses its own.
		if !chooses && spec.Conversation == "" && spec.TakeUp == "" && (spec.Isolate != agent.IsolateNone || spec.Fork.Conversation != "") {
			spec.Conversation = newConversation()
		}
		return r.checkPrompt(spec)
	}
	for _, field := range []struct {
		name string
		set  bool
	}{
		{"conversation", spec.Conversation != ""}, {"resume", spec.TakeUp != ""},
		{"settings", len(spec.Settings) > 0}, {"mcp", len(spec.MCP) > 0}, {"gate", spec.Gate.Closed()}, {"start", len(spec.Start) > 0},
	} {
		if field.set {
			return api.Errorf(api.CodeNoDriver, "%s means nothing to %s, which is run as any program: name the agent with --agent, or leave it out", field.name, api.Quote(spec.Command[0]))
		}
	}
	return r.checkPrompt(spec)
}

// checkPrompt refuses a first message that could never be typed.
func (r *Registry) checkPrompt(spec *Spec) error {
	if spec.Prompt == "" {
		return nil
	}
	typer, ok := r.driver(*spec).(agent.MessageTyper)
	if !ok {
		return api.Errorf(api.CodeNoDriver, "berth can't tell when %s is ready for a message, so it can't send --prompt: name its agent with --agent, write rules for it, or leave --prompt out", api.Quote(spec.Command[0]))
	}
	_, err := Nudge{Text: spec.Prompt}.Typed(typer)
	return err
}

// newConversation makes a version 4 UUID, which is what agents name their
// conversations by.
func newConversation() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// prepare readies a program for its agent's driver. It sets up the command, environment
// and files that make the agent report its state. A program without a driver stays as it
// is.
func (s *Session) prepare(spec Spec, prog program) (program, agent.Launch, error) {
	s.keepSecrets(prog)
	if err := s.openWays(prog.user); err != nil { // first: the program of the hooks, and berth, are in the session's folder
		return prog, agent.Launch{}, err
	}
	prog, launch, err := s.prepareAgent(spec, prog)
	if err == nil {
		prog.env = s.withBerth(prog)
	}
	return prog, launch, err
}

func (s *Session) prepareAgent(spec Spec, prog program) (program, agent.Launch, error) {
	l, ok := s.reg.driver(spec).(agent.Launcher)
	if !ok {
		return prog, agent.Launch{}, nil
	}
	hook, berth := "", ""
	if spec.Isolate != agent.IsolateNone {
		var err error
		if hook, err = hold.LinkProgram(s.dir, s.reg.options.Exe, hold.HookBinary, prog.user != nil); err != nil {
			return prog, agent.Launch{}, fmt.Errorf("link the program of the hooks: %w", err)
		}
		if berth, err = hold.LinkProgram(s.dir, s.reg.options.Berth, "berth", prog.user != nil); err != nil {
			return prog, agent.Launch{}, fmt.Errorf("link the program that reports: %w", err)
		}
	}
	folder, err := s.agentFolder(prog.user)
	if err == nil && hook != "" {
		err = prog.reaches(hook)
	}
	if err != nil {
		return prog, agent.Launch{}, err
	}
	launch, err := account.As(context.Background(), prog.user, func() (agent.Launch, error) { // the agent may have put anything there
		return s.layOut(l, spec, prog, folder, hook, berth)
	})
	if prog.user != nil && errors.Is(err, fs.ErrPermission) {
		err = api.Errorf(api.CodeBadRequest, "what %s is started with cannot be had as the user %s: %w", spec.Agent, api.Quote(prog.user.Name), err)
	}
	if err != nil {
		return prog, launch, err
	}
	if err := s.askAgain(spec); err != nil {
		return prog, launch, err
	}
	prog.argv, prog.env = launch.Argv, launchEnv(prog, launch)
	if hook != "" {
		prog.env = append(prog.env, ownHooks+"=1")
	}
	return prog, launch, nil
}

// ownHooks is set for an agent that was started with Berth's hooks. Those that init has put into the user's own
// settings are silent then: each event would be reported twice.
const ownHooks = "BERTH_HOOKS"

// layOut has the driver say how its agent is started, and makes its files.
func (s *Session) layOut(l agent.Launcher, spec Spec, prog program, folder, hook, berth string) (agent.Launch, error) {
	cwd, err := filepath.EvalSymlinks(prog.cwd)
	if err != nil {
		return agent.Launch{}, fmt.Errorf("find the real path of the working directory: %w", err)
	}
	start := agent.Start{
		Argv: prog.argv, Env: EnvMap(prog.env), Own: prog.own, Cwd: cwd, Folder: folder, Hook: hook, Disk: disk{},
		Conversation: spec.Conversation, Fresh: newConversation(), Resume: spec.begun(), Isolate: spec.Isolate, Groom: spec.Groom, Trust: spec.Trust, AcceptBypass: spec.AcceptBypass,
		Settings: spec.Settings,
		Berth:    callBerth(berth, cwd, EnvMap(prog.env)["PATH"]),
		EndAsks:  filepath.Join(s.dir, endAsksFile), StartAsks: filepath.Join(s.dir, beginAsksFile),
	}
	if start.MCP, err = s.withOwnTools(spec, prog); err != nil {
		return agent.Launch{}, err
	}
	if !spec.Spoken { // else all that is past
		start.ResumeID, start.Fork = spec.TakeUp, spec.Fork.Conversation
	}
	if start.Fork != "" {
		start.ForkFolder = filepath.Join(s.reg.sessionsDir(), spec.Fork.Session, agentName(prog.user))
	}
	launch, err := l.Launch(start)
	if err != nil {
		return launch, launchError(spec.Agent, err)
	}
	launch.Berth, launch.Cwd = start.Berth, start.Cwd
	return launch, lay(launch)
}

// launchError puts what a driver refuses into words for a caller.
func launchError(name string, err error) error {
	switch {
	case errors.Is(err, agent.ErrNoConversation):
		return api.Errorf(api.CodeNotFound, "%w", err)
	case errors.Is(err, agent.ErrStart):
		return api.Errorf(api.CodeBadRequest, "%w", err)
	}
	return fmt.Errorf("prepare %s: %w", name, err)
}

// lay makes the folders and files that an agent is started with.
func lay(l agent.Launch) error {
	for _, dir := range l.Folders {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make a folder for the agent: %w", err)
		}
	}
	for path, data := range l.Files {
		if err := loop.ReplaceFile(path, data); err != nil {
			return err
		}
	}
	for path, from := range l.Copies {
		if err := copyFile(path, from); err != nil {
			return fmt.Errorf("copy %s: %w", from, err)
		}
	}
	for path, target := range l.Links {
		if err := os.Symlink(target, path); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("link %s: %w", target, err)
		}
	}
	return nil
}

// copyFile copies a file to where none is yet.
func copyFile(path, from string) (err error) {
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	in, err := openPlain(from)
	if err != nil {
		return err
	}
	defer in.Close()
	aside := path + ".new"
	_ = os.Remove(aside) // see loop.ReplaceFile
	out, err := os.OpenFile(aside, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(in, diskMost+1))
	switch {
	case err == nil && n > diskMost:
		err = errors.Join(fmt.Errorf("it is longer than %d bytes", diskMost), os.Remove(aside))
	case err == nil:
		err = os.Rename(aside, path)
	}
	return errors.Join(err, out.Close())
}

// launchEnv is the environment with what the agent needs, and without what it
// must not see.
func launchEnv(prog program, l agent.Launch) []string {
	env := EnvMap(prog.env)
	maps.DeleteFunc(env, func(name, _ string) bool {
		_, own := prog.own[name]
		return !own && unsets(l.Unset, name)
	})
	for name, value := range l.Default {
		if _, own := prog.own[name]; !own {
			env[name] = value
		}
	}
	maps.Copy(env, l.Set)
	return flatten(env)
}

// launched is the spec with what is known of the agent now that it is started
// so.
func launched(spec Spec, l agent.Launch) Spec {
	spec.StateFile, spec.LogFiles, spec.Vouched, spec.Berth, spec.StartedIn = l.StateFile, l.LogFiles, l.Vouched, l.Berth, l.Cwd
	spec.Stream, spec.Headless, spec.Again, spec.Begun = l.Stream, l.Headless, l.Again, true
	if l.Conversation != "" && l.Conversation != spec.Conversation {
		spec.Conversation, spec.Spoken = l.Conversation, false
	}
	return spec
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

// withBerth is the program's environment with berth on its PATH: where the PATH has none, the session's folder
// comes last, with the link. A session starts without it where there can't be a link.
func (s *Session) withBerth(prog program) []string {
	env := EnvMap(prog.env)
	found, _ := account.As(context.Background(), prog.user, func() (bool, error) { // an unreachable user has found none
		_, err := lookPath("berth", prog.cwd, env["PATH"])
		return err == nil, nil
	})
	if found || s.reg.options.Berth == "" {
		return prog.env
	}
	link, err := hold.LinkProgram(s.dir, s.reg.options.Berth, "berth", prog.user != nil)
	if err == nil {
		err = prog.reaches(link)
	}
	if err != nil {
		s.reg.log.Warn("berth isn't on the PATH of a session", "session", s.id, "error", err)
		return prog.env
	}
	if env["PATH"] != "" {
		env["PATH"] += string(filepath.ListSeparator)
	}
	env["PATH"] += filepath.Dir(link)
	return flatten(env)
}

// withOwnTools are the session's MCP servers. Where one is agent.OwnTools, it gets the program that speaks
// for this server. Agents start such programs with few variables of their own environment, so the program
// gets the socket here.
func (s *Session) withOwnTools(spec Spec, prog program) (map[string]any, error) {
	servers := spec.MCP
	if whole, ok := servers["mcpServers"].(map[string]any); ok {
		servers = whole
	}
	var changed map[string]any
	for name, server := range servers {
		if server != agent.OwnTools {
			continue
		}
		link, err := hold.LinkProgram(s.dir, s.reg.options.Berth, "berth", prog.user != nil)
		if err == nil {
			err = prog.reaches(link)
		}
		if err != nil {
			return nil, fmt.Errorf("link the program of the tools: %w", err)
		}
		if changed == nil {
			changed = maps.Clone(servers)
		}
		env := EnvMap(prog.env)
		own := map[string]any{}
		for _, name := range []string{"BERTH_SOCKET", "BERTH_SESSION"} {
			if env[name] != "" {
				own[name] = env[name]
			}
		}
		changed[name] = map[string]any{"command": link, "args": []any{"mcp"}, "env": own}
	}
	if changed == nil {
		return spec.MCP, nil
	}
	return changed, nil
}

// callBerth is how the agent's commands call berth: by its name where the session's
// PATH has it, else by the link in the session's folder.
func callBerth(link, cwd, path string) string {
	if _, err := lookPath("berth", cwd, path); err == nil {
		return "berth"
	}
	return link
}
