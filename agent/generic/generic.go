// Package generic is the driver of programs without a driver of their own. It reads four sources: a
// shell's foreground process, the OSC sequences that any program may send, the reports of berth
// hook state, and the rows of the screen by rules of the configuration. Detection and sessions call
// it through the interfaces of package agent. All of it is pure.
package generic

import (
	"fmt"
	"time"

	"berth/agent"
	"berth/agent/generic/rules"
)

// Name is the agent's name.
const Name = agent.Generic

// Driver reads any program. Its zero value is ready, and is the driver of a program that isn't a
// shell.
type Driver struct {
	agent.Silent // without rules the screen has no meaning

	Ruleset *rules.Ruleset // the configuration's rules; nil without any
	shell   bool
	set     *rules.Compiled // the program's rules; nil without any
}

var (
	_ agent.Driver           = Driver{}
	_ agent.ForCommand       = Driver{}
	_ agent.LimitedStates    = Driver{}
	_ agent.ActivityReporter = Driver{}
	_ agent.ProcessReader    = Driver{}
	_ agent.PromptAnswerer   = Driver{}
)

// Name is "generic".
func (Driver) Name() string { return Name }

// ForCommand returns the driver of the program that the command starts. It uses the rules with that
// name, or without a name the rules for the program.
func (d Driver) ForCommand(command []string, name string) agent.Driver {
	one := Driver{shell: IsShell(command), set: d.Ruleset.Named(name)}
	if name == "" {
		one.set = d.Ruleset.For(command)
	}
	switch {
	case one.set == nil:
		return one
	case one.set.Set.Nudge == nil:
		return ruled{one}
	}
	return typer{ruled{one}}
}

// Rules returns the names of all rules.
func (d Driver) Rules() []string { return d.Ruleset.Names() }

// ReportedStates: the foreground process shows whether a shell runs a command. Any other program
// shows only what it reports itself.
func (d Driver) ReportedStates() []agent.State {
	if d.shell {
		return []agent.State{agent.Idle, agent.Working}
	}
	return nil
}

// DefaultActivity: the driver can't know what the program does.
func (Driver) DefaultActivity() *agent.Activity { return nil }

// foregroundHolds is how long the foreground process must be the shell before the turn counts as
// completed. A shell reports a command's exit status a moment after the command has left the
// foreground, and the status may be a failure.
const foregroundHolds = 100 * time.Millisecond

// Table: a program's own report counts at once.
func (Driver) Table() agent.Table {
	own := []agent.Witness{{Source: agent.SourceHook}, {Source: agent.SourceOSC}, {Source: agent.SourceProgress}}
	all := append(own[:3:3], agent.Witness{Source: agent.SourceProcess})
	return agent.Table{
		agent.MoveReady:  all,
		agent.MoveWork:   all,
		agent.MoveDone:   append(own[:3:3], agent.Witness{Source: agent.SourceProcess, After: foregroundHolds}),
		agent.MoveRest:   append(own[:3:3], agent.Witness{Source: agent.SourceProcess, After: foregroundHolds}),
		agent.MoveFail:   own,
		agent.MoveAsk:    own,
		agent.MoveAnswer: own,
	}
}

// Title is evidence only: the driver doesn't know what the program's title means.
func (Driver) Title(title string) []agent.Fact {
	return []agent.Fact{{Kind: agent.Noted, Source: agent.SourceTitle, Cause: "title", Evidence: title}}
}

// Waiting makes the prompt of a program that reports only that it asks.
func (Driver) Waiting(f *agent.Fact) *agent.Request { return asks(f.Text) }

// Unanswerable: without rules Berth knows no key that answers.
func (Driver) Unanswerable(*agent.Request) bool { return true }

// Keys: only rules can say how to answer a program.
func (Driver) Keys(*agent.Request, agent.Answer, *agent.Dialog) (agent.KeyAnswer, error) {
	return agent.KeyAnswer{}, fmt.Errorf("%w: no rules say how; answer with keys or input, or attach", agent.ErrCannot)
}

// Verdict: a program that reports its prompt by a hook doesn't wait in that hook.
func (Driver) Verdict(*agent.Request, agent.Answer, []byte) (agent.Verdict, error) {
	return agent.Verdict{}, agent.ErrOnlyByKeys
}

// kindPermission is a state sequence's word for a permission.
const kindPermission = "permission"

// asks makes a prompt when only its text is known, or its kind.
func asks(text string) *agent.Request {
	p := &agent.Request{Type: agent.PromptQuestion, Modal: true, Channel: agent.ChannelKeys, Options: []string{}, Text: agent.Pointer(text)}
	if text == kindPermission {
		p.Type, p.Text = agent.PromptPermission, nil
	}
	return p
}
