package sessions

import (
	"context"
	"time"

	"berth/agent"
	"berth/api"
	"berth/detect"
	"berth/sessions/clients"
	"berth/sessions/command"
	"berth/sessions/deliver"
	"berth/sessions/gates"
	"berth/sessions/gates/begin"
	"berth/sessions/gates/gate"
	"berth/sessions/gates/transcript"
	"berth/sessions/hold"
	"berth/sessions/loop"
	"berth/sessions/outbox"
	"berth/sessions/prompts"
	"berth/sessions/track"
)

// listParts makes the session's parts. A record goes to them in this order, and so does a turn of
// the loop: the others go by what the track believes.
func (c *core) listParts() loop.Parts {
	c.clients = clients.New(c.clientsEnv())
	c.s.clients = c.clients
	c.gates = gates.New(c.gatesEnv())
	c.outbox = outbox.New(c.outboxEnv())
	c.s.outbox = c.outbox
	c.prompts = prompts.New(c.promptsEnv())
	c.s.prompts = c.prompts
	c.track = track.New(c.trackEnv())
	return loop.Parts{
		{Name: "track", Own: true, Part: c.track},
		{Name: "clients", Part: c.clients},
		{Name: "gates", Part: c.gates},
		{Name: "prompts", Part: c.prompts},
		{Name: "outbox", Part: c.outbox},
	}
}

// env is what any part may use.
func (c *core) env() loop.Env {
	s := c.s
	return loop.Env{
		ID: s.id, Dir: s.dir, Log: c.log, Now: c.now,
		Name: func() string { return c.spec.Name },
		Driver: func() agent.Driver {
			if d := c.track.Driver(); d != nil {
				return d // also if rules were reloaded since
			}
			return s.reg.driver(c.spec)
		},
		Program: c.program, Exited: c.exitedError,
		Freshen:    func() { c.track.Freshen() },
		Seen:       func() deliver.Seen { return c.track.Seen() },
		Link:       func() *hold.Link { return c.link() },
		Note:       c.note,
		SaveSoon:   func() { c.saveSoon = true },
		Background: func(work func(context.Context)) { c.background(func() { work(s.reg.ctx) }) },
		Do:         func(ctx context.Context, fn func()) error { return s.do(ctx, func(*core) { fn() }) },
		Deliver: func(ctx context.Context, claim Claim, work func(loop.Write) error) error {
			return c.clients.Delivery(ctx, claim, work)
		},
		Changed: s.Subscribe, Standing: s.standing, Stopped: s.stopped, Over: s.over,
		Trouble: c.trouble, Cured: c.cured,
	}
}

// program is how the program stands now.
func (c *core) program() loop.Program {
	p := loop.Program{State: c.track.State(), Ended: c.exit != nil, PersonAt: c.clients.PersonAt(), LastIn: c.clients.LastInput()}
	p.Follows, p.Reaches = c.track.Follows() && !p.Ended, c.link() != nil && !p.Ended
	p.Awake = p.Follows && c.track.Awake()
	return p
}

// onClock is a moment that a file reports, as the loop's own clock has it.
func (c *core) onClock(at time.Time) time.Time { return loop.Env{Now: c.now}.OnClock(at) }

// exitedError says why the program cannot be written to.
func (c *core) exitedError() error {
	if c.exit == nil && c.track.State() != agent.Exited {
		return api.Errorf(api.CodeNotReady, "the program of %s cannot be reached now: its state is %s", c.spec.Name, c.track.State())
	}
	return api.Errorf(api.CodeExited, "%s has ended: restart starts it again", c.spec.Name).With("session", c.spec.Name)
}

// standing is how the session stands, as others see it.
func (s *Session) standing() loop.Standing {
	st := s.Status()
	return loop.Standing{Name: st.Name, Agent: st.Agent, State: st.Now, Seq: st.Seq, Prompt: st.Request, Driver: s.reg.driver(st.Spec)}
}

func (c *core) gatesEnv() gates.Env {
	return gates.Env{
		Env:     c.env(),
		Gate:    func() gate.Config { return c.spec.Gate },
		Start:   func() begin.Config { return c.spec.Start },
		Berth:   func() string { return c.spec.berth() },
		Held:    func(held bool, at time.Time) detect.Result { return c.track.Held(held, at) },
		EndTurn: func(hook uint64, at time.Time) []detect.Result { return c.track.EndTurn(hook, at) },
		LetGo:   func() { c.prompts.LetGo() },
		Printer: c.printer,
		Store: func() *transcript.Store {
			if c.spec.logFolder() == "" {
				return nil
			}
			return c.s.transcripts(c.spec.logs())
		},
	}
}

// printer gives a function that runs a command as the session is now.
func (c *core) printer(argv []string, source begin.Source) func() (text string, cut bool, err error) {
	s, spec := c.s, c.spec
	spec.Command = argv
	return func() (string, bool, error) {
		prog, err := s.reg.options.Environment.resolve(spec)
		if err != nil {
			return "", false, err
		}
		r, err := s.Run(s.reg.ctx, command.Command{
			Path: prog.path, Argv: prog.argv, Dir: prog.cwd, Most: begin.Most, Within: begin.Within, As: prog.user.Credential(),
			Env: append(prog.env, "BERTH_START_SOURCE="+string(source)),
		})
		return begin.Printed(r.Output), r.Cut, err
	}
}

// applyToParts takes a record to the parts, and appends what follows from it in one step.
func (c *core) applyToParts(r hold.Record) error {
	told, err := c.parts.Record(r)
	if err != nil {
		return err
	}
	if len(told.Events) == 0 && len(told.Results) == 0 {
		return nil
	}
	c.clients.Gather()
	if r.N <= c.told {
		c.track.Retell(told.Results)
		return nil
	}
	if len(told.Events) > 0 {
		c.told = r.N
	}
	c.track.Tell(told.Results, told.Events...)
	return nil
}

// beginParts begins anew with a program that has just started, if there is a driver for its agent.
func (c *core) beginParts(at time.Time) {
	if c.s.reg.driver(c.spec) == nil {
		return
	}
	c.parts.Begin(at)
}

// endParts takes in that the program has ended. Told says that a server before this one has
// written the events of that.
func (c *core) endParts(told bool) {
	if !c.track.Follows() {
		return
	}
	c.prompts.Ending(told)
	if !told {
		c.track.Ending()
	}
	c.parts.End()
	c.track.Ended(told)
}

// resumeParts goes on with the program that runs.
func (c *core) resumeParts(from loop.Checkpoint) {
	switch {
	case c.s.reg.driver(c.spec) == nil:
		c.parts.End()
	case from.Followed():
		if err := c.track.Resume(from.Started.Time, from.Taken.Time); err != nil {
			c.trouble("restore what was known of the agent", err)
			c.beginParts(from.Taken.Time)
		}
	case from.PID != 0: // by a server that followed no such program
		c.beginParts(from.Started.Time)
	}
}
