package sessions

import (
	"context"
	"time"

	"berth/agent"
	"berth/api"
	"berth/detect"
	"berth/detect/tail"
	"berth/keys"
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
	"berth/sessions/process"
	"berth/sessions/prompts"
	"berth/sessions/track"
	"berth/terminal"
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

// standing is how the session stands, as others see it.
func (s *Session) standing() loop.Standing {
	st := s.Status()
	return loop.Standing{Name: st.Name, Agent: st.Agent, State: st.Now, Seq: st.Seq, Prompt: st.Request, Driver: s.reg.driver(st.Spec)}
}

func (c *core) journalEnv() loop.JournalEnv {
	return loop.JournalEnv{
		Offset: func() int64 { return c.term.Offset() }, Output: c.takeOutput, Skip: c.skip, Record: c.takeRecord,
		Passed: func() { c.clients.PassOn() }, Unlinked: func() { c.dirty = true },
		Trouble: c.trouble, Cured: c.cured,
	}
}

func (c *core) trackEnv() track.Env {
	s := c.s
	return track.Env{
		Env:   c.env(),
		Peers: c.peers(),
		Spec:  func() track.Spec { return c.spec.track() },
		Logs:  func() tail.Below { return c.spec.logs() },
		Learn: func(conversation string, spoken bool) error {
			return c.changeSpec(func(s *Spec) { s.Conversation, s.Spoken = conversation, spoken }, func() {})
		},
		Fresh:    func() agent.Driver { return s.reg.driver(c.spec) },
		Child:    func() track.Child { return track.Child{PID: c.child.pid, Start: c.child.start, Started: c.started} },
		Exit:     func() *api.Exit { return c.exit },
		Terminal: func() *terminal.Terminal { return c.term }, LastOut: func() time.Time { return c.lastOut }, Unsettled: c.unsettled,
		Live:    c.journal.Live,
		CatchUp: c.journal.CatchUp, Sweep: c.journal.Sweep, ReadOutput: c.journal.ReadOutput,
		Waiting: c.waitingHooks,
		Append:  c.appendAll, Written: func(record uint64) bool { return record <= c.told }, Next: c.nextEvent,
		Dirty:   func() { c.dirty = true },
		Watcher: s.reg.watcher, FilesChanged: s.stirred, Opened: s.reg.opened,
	}
}

// peers are what the other parts say to facts about the agent.
func (c *core) peers() track.Peers {
	return track.Peers{
		Closes: c.prompts.Closes, Faced: c.prompts.Faced, Hooked: c.prompts.Hooked, Asks: c.prompts.Asks, LetGo: c.prompts.LetGo,
		Heard: c.outbox.Fact, Taken: c.outbox.Taken, SettleTaken: c.outbox.SettleTaken,
		Gate: c.gates.Fact, KeepLog: c.gates.Log,
		Begins: func(source string, hook uint64) { c.gates.Begins(begin.Source(source), hook) },
	}
}

// waitingHooks are those that waited when the holder was found, as far as their records are
// applied.
func (c *core) waitingHooks() (hooks []uint64) {
	for _, h := range c.link().Welcome().Hooks {
		if h.ID <= c.applied {
			hooks = append(hooks, h.ID)
		}
	}
	return hooks
}

func (c *core) clientsEnv() clients.Env {
	s := c.s
	return clients.Env{
		Env:    c.env(),
		Policy: func() SizePolicy { return c.spec.SizePolicy },
		Holder: func() clients.Holder {
			if c.link() == nil {
				return nil
			}
			return c.link()
		},
		Terminal: func() *terminal.Terminal { return c.term }, Picture: c.picture, Resize: c.resizeTerm,
		Paced: c.paced, Dirty: func() { c.dirty = true }, Active: c.active, Looked: func() { c.prompts.Unveil() },
		Wanted:  func() bool { return len(c.settling) > 0 || s.bells.Any() },
		ReadOn:  c.journal.Sweep,
		CatchUp: func() { c.journal.CatchUp() },
		Settled: func(ctx context.Context, fn func()) error {
			_, err := settled(ctx, s, func(*core) (struct{}, error) { fn(); return struct{}{}, nil })
			return err
		},
	}
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

func (c *core) promptsEnv() prompts.Env {
	return prompts.Env{
		Env:     c.env(),
		Fold:    func() *detect.Fold { return c.track.Fold() },
		Clock:   func(at time.Time) time.Time { return c.track.Clock(at) },
		Pass:    func(at time.Time) { c.track.Pass(at) },
		Believe: func(r detect.Result) { c.track.Believe(r) },
		Read:    func() { c.journal.Sweep(); c.journal.CatchUp() },
		Sweep:   c.journal.Sweep,
		Look:    func() (*agent.Reading, terminal.Modes, bool) { return c.track.Look() },
		Deaf: func() bool {
			return process.Stopped(c.holderPID) || process.Halted(c.child.pid) || process.Unread(c.child.pid) > 0
		},
		Printed: func() int64 { return c.term.Offset() },
		Waits:   func(hook uint64) bool { return c.gates.Waits(hook) },
		Mark:    c.clients.Mark,
		Watched: c.clients.MayWrite,
		GoesOn:  func() bool { return c.exit == nil || c.onceMore() },
		Policy: func() (agent.Policy, bool) {
			return agent.Policy{Trust: c.spec.Trust, AcceptBypass: c.spec.AcceptBypass, Vouched: c.spec.Vouched}, c.spec.Groom == agent.GroomAuto
		},
	}
}

func (c *core) outboxEnv() outbox.Env {
	s := c.s
	return outbox.Env{
		Env:     c.env(),
		Removed: func() bool { return c.removed },
		Keeps:   func() bool { return c.track.Keeps() },
		Next:    c.nextEvent,
		Gather:  c.clients.Gather,
		Write:   loop.ReplaceFile,
		Rights: func(id keys.Identity) (keys.Identity, error) {
			id, err := s.reg.options.Rights(id)
			if err == nil {
				err = id.May("nudge", keys.Responder)
			}
			if err == nil && !id.SeesSession(s.id, c.spec.Name, c.spec.Tags) {
				err = id.Denied("nudge", c.spec.Name)
			}
			return id, err
		},
		Change: func(ctx context.Context, fn func() error) error {
			return s.change(ctx, func(*core) error { return fn() })
		},
	}
}
