package sessions

import (
	"io/fs"
	"path/filepath"
	"time"

	"berth/agent"
	"berth/sessions/outbox"
	"berth/sessions/process"
	"berth/sessions/track"
)

// specNow is the spec as it holds for the agent that is followed now: of a visitor in the session's shell it has
// the visitor's agent and files. It is for reading only; c.spec is what a restart starts.
func (c *core) specNow() Spec {
	visitor := c.track.Visitor()
	if visitor == nil {
		return c.spec
	}
	spec := c.spec
	spec.Agent, spec.StateFile, spec.LogFiles = visitor.Agent, visitor.StateFile, visitor.LogFiles
	spec.Conversation, spec.Spoken, spec.Fork, spec.Headless, spec.Stream, spec.Again = "", false, Fork{}, false, false, nil
	return spec
}

// takesVisitors reports whether an agent in the foreground is followed in place of the session's own program: that
// has no driver, and no rules to be read by.
func (c *core) takesVisitors() bool {
	driver := c.s.reg.driver(c.spec)
	_, ruled := driver.(agent.RulesNamer)
	return driver != nil && driver.Name() == agent.Generic && !ruled
}

// findVisitor is the agent in a foreground process group that Berth has a driver for; nil for none, and for one that
// holds no conversation on the terminal.
//
// A process chooses its own name and environment, so neither may show more than the process can read itself: files
// are read only of an agent that the session's own user runs, and only files of that user.
func (c *core) findVisitor(group int) *track.Visitor {
	drivers := c.s.reg.drivers()
	known := func(name string) bool { return name != agent.Generic && drivers[name] != nil }
	var found *track.Visitor
	exe := ""
	for _, p := range process.Programs(group) {
		name, args := agent.NameOf(p.Argv, p.Exe, known)
		if name == "" || found != nil && (name != found.Agent || p.Parent != found.PID || p.Exe == exe) {
			continue // below an agent only its own process counts, not one that it has started from the same file
		}
		var env map[string]string
		if p.UID == c.spec.owner() {
			env = c.visitorEnv(process.Environ(p.PID))
		}
		running, ok := runningAgent(drivers[name], append([]string{name}, args...), env)
		if !ok || !p.Terminal {
			return found
		}
		exe = p.Exe
		found = &track.Visitor{
			Agent: name, Group: group, PID: p.PID, Start: p.Start, StateFile: absolute(running.StateFile), LogFiles: absolute(running.LogFiles),
		}
	}
	return found
}

// visitorEnv is the environment of an agent that the session's user runs; nil when the system doesn't tell it. Without
// HOME an agent uses its account's home: the server's own is known here.
func (c *core) visitorEnv(entries []string) map[string]string {
	if entries == nil {
		return nil
	}
	env := EnvMap(entries)
	if env["HOME"] == "" && c.spec.User == "" {
		env["HOME"] = c.s.reg.options.Environment.Home
	}
	return env
}

// absolute is a path, or empty for one that is relative: it would be below the server's own folder.
func absolute(path string) string {
	if !filepath.IsAbs(path) {
		return ""
	}
	return path
}

// runningAgent is how a running agent is followed; ok is false if its command line holds no conversation on the
// terminal.
func runningAgent(driver agent.Driver, argv []string, env map[string]string) (r agent.Running, ok bool) {
	if d, can := driver.(agent.VisitorReader); can {
		return d.Running(argv, env)
	}
	l, can := driver.(agent.Launcher)
	if !can {
		return r, true
	}
	launch, err := l.Launch(agent.Start{Argv: argv, Env: env, Own: map[string]string{}, Disk: noDisk{}, Isolate: agent.IsolateNone, Groom: agent.GroomPristine})
	return r, err == nil && !launch.Headless
}

// noDisk is a disk without files.
type noDisk struct{}

// Open finds nothing.
func (noDisk) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// recipient is a visitor as messages know it.
func recipient(v *track.Visitor) *outbox.Recipient {
	if v == nil {
		return nil
	}
	return &outbox.Recipient{Agent: v.Agent, PID: v.PID, Start: v.Start}
}

// leaveAgent ends what the parts do with an agent that isn't followed any more.
func (c *core) leaveAgent() {
	c.gates.KeepLogs()
	c.prompts.Ending(false)
}

// enterAgent makes the parts ready for another agent in the same session.
func (c *core) enterAgent(at time.Time) {
	c.prompts.Begin(at)
	c.gates.Begin(at)
	c.outbox.Begin(at)
}
