// Package generic is what Berth knows about programs that it knows nothing
// about: what a shell shows by who has its terminal, what programs tell by the
// sequences that any may send, what they tell by berth hook state, and what the
// rules of the configuration read off a screen. All of it is pure.
package generic

import (
	"fmt"
	"time"

	"berth/agent"
	"berth/agent/generic/rules"
)

// Name is the agent's name.
const Name = agent.Generic

// Driver reads any program. Its zero value is ready, and is that of a program
// which is no shell.
type Driver struct {
	agent.Silent // without rules the screen has no meaning

	Book  *rules.Book // the configuration's rules; nil without any
	shell bool
	set   *rules.Compiled // its program's; nil: there are none
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

// ForCommand is the driver of the program that the command starts, with the rules of
// that name or those for the program.
func (d Driver) ForCommand(command []string, name string) agent.Driver {
	one := Driver{shell: IsShell(command), set: d.Book.Named(name)}
	if name == "" {
		one.set = d.Book.For(command)
	}
	switch {
	case one.set == nil:
		return one
	case one.set.Set.Nudge == nil:
		return ruled{one}
	}
	return typer{ruled{one}}
}

// Rules are the names of those that there are.
func (d Driver) Rules() []string { return d.Book.Names() }

// ReportedStates: of a shell it is known whether it runs something. Of any other program
// only what it tells itself.
func (d Driver) ReportedStates() []agent.State {
	if d.shell {
		return []agent.State{agent.Idle, agent.Working}
	}
	return nil
}

// DefaultActivity: nobody knows what it does.
func (Driver) DefaultActivity() *agent.Activity { return nil }

// A command's end is told by the shell a moment after the command has gone from
// the foreground; whoever looks in between must not say that all is well.
const foregroundHolds = 100 * time.Millisecond

// Table: a program's own word is believed at once.
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

// Title is evidence: what any program writes there is no state.
func (Driver) Title(title string) []agent.Fact {
	return []agent.Fact{{Kind: agent.Noted, Source: agent.SourceTitle, Cause: "title", Evidence: title}}
}

// Waiting is what a program asks that only says that it asks.
func (Driver) Waiting(f *agent.Fact) *agent.Request { return asks(f.Text) }

// Unanswerable: without rules no key is known to answer.
func (Driver) Unanswerable(*agent.Request) bool { return true }

// Keys: how a program is answered, only rules can say.
func (Driver) Keys(*agent.Request, agent.Answer, *agent.Dialog) (agent.KeyAnswer, error) {
	return agent.KeyAnswer{}, fmt.Errorf("%w: no rules say how; answer with keys or input, or attach", agent.ErrCannot)
}

// Verdict: a program that tells by a hook that it asks does not wait there.
func (Driver) Verdict(*agent.Request, agent.Answer, []byte) (agent.Verdict, error) {
	return agent.Verdict{}, agent.ErrOnlyByKeys
}

// kindPermission is what a state sequence calls a permission.
const kindPermission = "permission"

// asks is a prompt of which only its text is known, or its kind.
func asks(text string) *agent.Request {
	p := &agent.Request{Type: agent.PromptQuestion, Modal: true, Channel: agent.ChannelKeys, Options: []string{}, Text: agent.Pointer(text)}
	if text == kindPermission {
		p.Type, p.Text = agent.PromptPermission, nil
	}
	return p
}
