package sessions

import (
	"time"

	"berth/agent"
	"berth/api"
	"berth/detect/tail"
	"berth/sessions/gates/begin"
	"berth/sessions/track"
	"berth/terminal"
)

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

// track is what the spec says of the agent.
func (s Spec) track() track.Spec {
	return track.Spec{
		Conversation: s.Conversation, Spoken: s.Spoken, Forked: s.forked(), Headless: s.Headless, Again: len(s.Again) > 0, Dir: s.Cwd, IdleGrace: s.IdleGrace,
		Stream: s.Stream, Hooks: s.Isolate != agent.IsolateNone, StateFile: s.StateFile, LogFiles: s.LogFiles, Created: s.Created.Time,
	}
}
