package sessions

import (
	"context"
	"errors"
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
	"berth/sessions/lease"
	"berth/sessions/life"
	"berth/sessions/loop"
	"berth/sessions/mail"
	"berth/sessions/outbox"
	"berth/sessions/process"
	"berth/sessions/prompts"
	"berth/sessions/screen"
	"berth/sessions/track"
	"berth/sessions/worktree"
	"berth/terminal"
)

// addParts makes the session's parts. A record goes to them in this order, and so does a turn of
// the loop: the others go by what the track believes.
func (c *core) addParts() {
	c.clients = clients.New(c.clientsEnv())
	c.s.clients = c.clients
	c.gates = gates.New(c.gatesEnv())
	c.outbox = outbox.New(c.outboxEnv())
	c.s.outbox = c.outbox
	c.prompts = prompts.New(c.promptsEnv())
	c.s.prompts = c.prompts
	c.track = track.New(c.trackEnv())
	c.life = life.New(c.lifeEnv())
	c.mail = mail.New(c.mailEnv(), c.s.reg.mail)
	c.folder = &folder{env: c.folderEnv()}
	parts := loop.Parts{
		{Name: "track", Own: true, Part: c.track},
		{Name: "clients", Part: c.clients},
		{Name: "gates", Part: c.gates},
		{Name: "prompts", Part: c.prompts},
		{Name: "outbox", Part: c.outbox},
		{Name: "life", Own: true, Part: c.life},
		{Name: "mail", Part: c.mail},
		{Name: "folder", Part: c.folder},
	}
	c.kernel.Add(parts, c.track, [2]loop.Signal{
		{C: c.clients.WindowChanged(), Take: c.clients.LookAtWindows},
		{C: c.s.filesChanged, Take: c.track.FilesChanged},
	})
}

func (c *core) folderEnv() folderEnv {
	env := c.env()
	return folderEnv{
		View: c.track.View, Ended: func() bool { return c.life.Exit() != nil },
		Look: func(ctx context.Context) (*worktree.Look, time.Duration) {
			spec, err := ask(ctx, c.s, func(c *core) (Spec, error) { return c.spec, nil })
			if err != nil {
				return nil, 0
			}
			return c.s.reg.lookAt(ctx, spec)
		},
		Background: env.Background, Do: env.Do, Changed: c.kernel.Changed,
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
			return s.reg.driver(c.specNow())
		},
		Program: c.program, Exited: c.exitedError,
		Freshen:    func() { c.track.Freshen() },
		Seen:       func() deliver.Seen { return c.track.Seen() },
		Proven:     func(typed time.Time) { c.track.Proven(typed) },
		Link:       func() *hold.Link { return c.link() },
		Note:       c.kernel.Emit.Note,
		SaveSoon:   c.kernel.SaveSoon,
		SaveNow:    c.kernel.Save,
		Background: func(work func(context.Context)) { c.background(func() { work(s.reg.ctx) }) },
		Do:         c.kernel.Do,
		Deliver: func(ctx context.Context, claim Claim, work func(loop.Write) error) error {
			return c.clients.Delivery(ctx, claim, work)
		},
		Changed: s.Subscribe, Standing: s.standing, Stopped: s.stopped, Over: c.kernel.Over(),
		Trouble: c.kernel.Problem.Trouble, Cured: c.kernel.Problem.Cured,
	}
}

// program is the current condition of the program.
func (c *core) program() loop.Program {
	p := loop.Program{State: c.track.State(), Ended: c.life.Exit() != nil, PersonAt: c.clients.PersonAt(), LastIn: c.clients.LastInput()}
	p.Typed = p.LastIn.After(c.life.Started())
	p.Follows, p.Reaches = c.track.Follows() && !p.Ended, c.link() != nil && !p.Ended
	p.Live = p.Follows && c.track.Live()
	return p
}

// standing is the session's condition as others see it.
func (s *Session) standing() loop.Standing {
	st := s.Status()
	return loop.Standing{Name: st.Name, Agent: st.Agent, State: st.Now, Seq: st.Seq, Prompt: st.Request, Driver: s.reg.driver(st.Spec)}
}

// kernelEnv is what the kernel uses of the session. The parts are made after the kernel.
func (c *core) kernelEnv() loop.KernelEnv {
	s := c.s
	return loop.KernelEnv{
		ID: s.id, Dir: s.dir, Name: func() string { return c.spec.Name }, Log: c.log, Events: s.reg.events, Now: c.now, Read: &s.reg.read,
		Screen: screen.Env{
			Options: func() terminal.Options {
				return terminal.Options{Cols: c.spec.Cols, Rows: c.spec.Rows, Scrollback: c.spec.Limits.Scrollback, Now: s.reg.now}
			},
			Answer: func(data []byte, at int64) bool {
				if c.link() == nil {
					return false
				}
				if c.track.TakesReply(data) {
					c.link().Reply(data, at)
				}
				return true
			},
			Read:     func() bool { return track.ReadsScreen(s.reg.driver(c.specNow())) },
			Sized:    func(cols, rows int) { c.spec.Cols, c.spec.Rows = cols, rows },
			Resizing: func() { c.clients.PassOn() }, // the last bytes of the old size
			Resized:  func() { c.clients.Resized(); c.kernel.Changed() },
			Needed:   func() bool { return !c.life.Over() || c.link() != nil || !c.clients.None() },
		},
		Begin: func() {
			c.clients.Start()
			c.mail.Start()
			c.outbox.DeliverQueued()
		},
		Close: func() {
			c.life.Close(s.stopped())
			c.outbox.Close()
			c.clients.SizesDone()
			c.track.Close()
		},
		Stopped:   s.stopped,
		Wake:      func() { c.clients.CloseFastPath() },
		Sleep:     func() { c.clients.OpenFastPath() },
		Publish:   c.publish,
		PassOn:    func() { c.clients.PassOn() },
		Clipboard: func(write string) { c.clients.Clipboard(s.reg.settings.Load().Clipboard, write) },
		Gather:    func() { c.clients.Gather() },
		Applied:   func(r hold.Record) { c.prompts.Observe(r) },
		Running:   func() bool { return c.life.Exit() == nil },
	}
}

func (c *core) trackEnv() track.Env {
	s := c.s
	return track.Env{
		Env:   c.env(),
		Peers: c.peers(),
		Spec: func() track.Spec {
			spec := c.specNow().track()
			spec.Hooks = spec.Hooks && c.track.Visitor() == nil // it may have them, see init
			return spec
		},
		Logs: func() tail.Below { return c.specNow().logs() },
		Learn: func(conversation string, spoken bool) error {
			return c.changeSpec(func(s *Spec) { s.Conversation, s.Spoken = conversation, spoken }, func() {})
		},
		Fresh:         func() agent.Driver { return s.reg.driver(c.specNow()) },
		TakesVisitors: c.takesVisitors, FindVisitor: c.findVisitor, Leave: c.leaveAgent, Enter: c.enterAgent,
		Moved: func(from, to *track.Visitor) { c.outbox.Moved(*recipient(from), *recipient(to)) },
		Child: func() track.Child {
			child := c.life.Child()
			return track.Child{PID: child.PID, Start: child.Start, Started: c.life.Started()}
		},
		Shared:   c.shared,
		Exit:     func() *api.Exit { return c.life.Exit() },
		Terminal: c.kernel.Screen.Terminal, LastOut: c.kernel.LastOut, Unsettled: c.kernel.Screen.Unsettled,
		Live:    c.kernel.Journal.Live,
		CatchUp: c.kernel.Journal.CatchUp, Sweep: c.kernel.Journal.Sweep, ReadOutput: c.kernel.Journal.ReadOutput,
		Waiting: c.waitingHooks,
		Append:  c.kernel.Emit.Append, Written: c.kernel.Emit.Written, Next: c.kernel.Emit.Next,
		Dirty: c.kernel.Changed, TurnStarted: c.kernel.TurnStarted, TurnRecalled: c.kernel.TurnRecalled,
		Watcher: s.reg.watcher, FilesChanged: s.filesChanged, Opened: s.reg.opened,
	}
}

// peers are what the other parts say to facts about the agent.
func (c *core) peers() track.Peers {
	return track.Peers{
		Closes: c.prompts.Closes, ShownOnScreen: c.prompts.ShownOnScreen, Hooked: c.prompts.Hooked, Asks: c.prompts.Asks, ReleaseHooks: c.prompts.ReleaseHooks,
		Observe: c.outbox.Fact, Taken: c.outbox.Taken, SettleTaken: c.outbox.SettleTaken, FirstWaiting: c.outbox.FirstWaiting,
		Gate: c.gates.Fact, KeepLog: c.gates.Log,
		Begins: func(source string, hook uint64) { c.gates.Begins(begin.Source(source), hook) },
	}
}

// waitingHooks are those that waited when the holder was found, as far as their records are
// applied.
func (c *core) waitingHooks() (hooks []uint64) {
	for _, h := range c.link().Welcome().Hooks {
		if h.ID <= c.kernel.Applied() {
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
		Terminal: c.kernel.Screen.Terminal, Picture: c.kernel.Picture, Resize: c.kernel.Screen.Resize,
		Paced: c.kernel.Emit.Paced, Dirty: c.kernel.Changed, Active: c.active, Looked: func() { c.prompts.ShowDialogs() },
		Wanted: func() bool { return c.kernel.Screen.Awaited() || s.bells.Any() },
		MayLock: func(who lease.Client) bool {
			_, err := c.rights(loop.Former(who), "lock", keys.Operator)
			return err == nil || errors.Is(err, keys.ErrNotYet)
		},
		ReadOn:  c.kernel.Journal.Sweep,
		CatchUp: func() { c.kernel.Journal.CatchUp() },
		Settled: c.kernel.Settled,
	}
}

// rights are the rights now of a caller that has left something of a verb in the session, or why it may
// no longer use the verb here.
func (c *core) rights(id keys.Identity, verb string, need keys.Role) (keys.Identity, error) {
	id, err := c.s.reg.options.Rights(id, verb)
	if err == nil {
		err = id.May(verb, need)
	}
	if err == nil && !id.SeesSession(c.s.id, c.spec.Name, c.spec.Tags) {
		err = id.Denied(verb, c.spec.Name)
	}
	return id, err
}

func (c *core) gatesEnv() gates.Env {
	return gates.Env{
		Env:          c.env(),
		Gate:         func() gate.Config { return c.spec.Gate },
		Start:        func() begin.Config { return c.spec.Start },
		Berth:        func() string { return c.spec.berth() },
		Held:         func(held bool, at time.Time) detect.Result { return c.track.Held(held, at) },
		EndTurn:      func(hook uint64, at time.Time) []detect.Result { return c.track.EndTurn(hook, at) },
		ReleaseHooks: func() { c.prompts.ReleaseHooks() },
		Printer:      c.printer,
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

// shared reports whether another program may take what is typed for the agent.
func (c *core) shared() bool {
	holder, _ := c.life.Holder()
	return process.Shared(holder, c.life.Child().PID, c.track.AgentPID())
}

func (c *core) promptsEnv() prompts.Env {
	return prompts.Env{
		Env:   c.env(),
		Fold:  func() *detect.Fold { return c.track.Fold() },
		Clock: func(at time.Time) time.Time { return c.track.Clock(at) },
		Pass:  func(at time.Time) { c.track.Pass(at) },
		Apply: func(r detect.Result) { c.track.Apply(r) },
		Read:  func() { c.kernel.Journal.Sweep(); c.kernel.Journal.CatchUp() },
		Sweep: c.kernel.Journal.Sweep,
		Look:  func() (*agent.Reading, terminal.Modes, bool) { return c.track.Look() },
		Deaf: func() bool {
			holder, _ := c.life.Holder()
			child, own := c.life.Child().PID, c.track.AgentPID()
			_, keys := c.env().Driver().(agent.KeyReader)
			cols, rows := c.kernel.Screen.Terminal().Size()
			at := func(pid int) bool { return process.Held(pid, keys) || keys && !process.Sized(pid, cols, rows) }
			return c.track.Gone() || process.Stopped(holder) || process.Stopped(child) || at(child) || own != child && (process.Stopped(own) || at(own))
		},
		Busy: func() bool {
			_, keys := c.env().Driver().(agent.KeyReader)
			return keys && (process.Busy(c.life.Child().PID) || process.Busy(c.track.AgentPID()))
		},
		Halted:  func() bool { return process.Halted(c.life.Child().PID) },
		Shared:  c.shared,
		Printed: c.kernel.Screen.Offset,
		Waits:   func(hook uint64) bool { return c.gates.Waits(hook) },
		Mark:    c.clients.Mark,
		Watched: c.clients.MayWrite,
		GoesOn:  func() bool { return c.life.GoesOn() },
		Policy: func() (agent.Policy, bool) {
			return agent.Policy{Trust: c.spec.Trust, AcceptBypass: c.spec.AcceptBypass, Vouched: c.spec.Vouched}, c.spec.Groom == agent.GroomAuto && c.track.Visitor() == nil
		},
	}
}

func (c *core) outboxEnv() outbox.Env {
	s := c.s
	return outbox.Env{
		Env:       c.env(),
		Removed:   c.kernel.Stopping,
		Keeps:     func() bool { return c.track.Keeps() },
		Began:     func(f agent.Fact) { c.track.Began(f) },
		Interrupt: c.clients.Interrupt,
		Recipient: func() *outbox.Recipient { return recipient(c.track.Visitor()) },
		Lives:     func(r outbox.Recipient) bool { return process.Runs(r.PID, r.Start) },
		Next:      c.kernel.Emit.Next,
		Limit: func() outbox.Limit {
			l := outbox.Limit{Message: c.spec.AfterLimit, Self: c.track.GoesOn()}
			l.Seq, l.Since, l.End = c.track.Parked()
			return l
		},
		Gather:  c.clients.Gather,
		Printed: c.kernel.Screen.Offset, ReadOutput: c.kernel.Journal.ReadOutput,
		Write:  loop.ReplaceFile,
		Append: c.kernel.Emit.Append, Letters: c.letters(),
		Rights: func(id keys.Identity, verb string) (keys.Identity, error) { return c.rights(id, verb, keys.Responder) },
		Change: func(ctx context.Context, fn func() error) error {
			return s.change(ctx, func(*core) error { return fn() })
		},
	}
}
