package sessions

import (
	"context"
	"strings"
	"time"

	"berth/agent"
	"berth/api"
	"berth/sessions/hold"
	"berth/sessions/life"
	"berth/sessions/loop"
	"berth/terminal"
)

// lifeEnv is what the program's life means for the rest of the session.
func (c *core) lifeEnv() life.Env {
	s := c.s
	return life.Env{
		Env: c.env(),
		Spec: func() life.Spec {
			return life.Spec{Restart: c.spec.Restart, Again: c.spec.Again, TTL: c.spec.Limits.TTL, Ends: c.spec.Ends.Time, Idle: c.spec.Limits.IdleTimeout}
		},
		State:    func() agent.State { return c.track.State() },
		SetState: func(state agent.State, cause string) { c.track.SetState(state, agent.TierProcess, cause) },
		Used:     func() time.Time { return loop.Later(c.kernel.LastOut(), c.clients.LastInput()) },
		Event:    c.kernel.Emit.Event, Written: c.kernel.Emit.Written,
		Save: c.kernel.Save, Changed: c.kernel.Changed, Publish: c.kernel.Publish,
		Dial:   c.dial,
		Linked: func() bool { return c.link() != nil }, LinkErr: func() error { return c.link().Err() },
		Unlink: c.kernel.Journal.Unlink, Replay: c.kernel.Journal.Replay,
		Found: func(w hold.Welcome) {
			c.clients.SizeIs(w.Cols, w.Rows)
			c.track.ForgetFront()
			c.track.LookSoon()
		},
		Reached: func(w hold.Welcome) {
			c.kernel.Screen.Answer(max(w.LastReply, w.StaleOffset))
			c.track.Reached()
		},
		Load: func() { c.kernel.Picture() },
		Launch: func(lost bool) {
			spec := c.spec
			c.background(func() { s.relaunch(spec, lost) })
		},
		EndProgram: func(mark loop.Mark, grace time.Duration) func() error {
			link := c.link()
			return func() error { return link.End(grace, mark.JSON()) }
		},
		EndOrphans: s.endOrphans,
		Begin:      c.programStarted, Created: c.createdData, End: c.programEnded,
		Ended: func() { c.clients.SizesDone() },
	}
}

// dial finds the holder, and has the journal read from it.
func (c *core) dial(ctx context.Context) (hold.Welcome, error) {
	link, err := hold.Dial(ctx, c.s.dir)
	if err != nil {
		return hold.Welcome{}, err
	}
	c.kernel.Journal.Hold(link)
	return link.Welcome(), nil
}

// programStarted begins anew with a program that has just started.
func (c *core) programStarted(at time.Time, first bool, d hold.StartedData) {
	c.track.ForgetFront()
	c.beginParts(at)
	c.kernel.Screen.Begin(first, d.Cols, d.Rows)
	c.clients.SizeIs(d.Cols, d.Rows)
	c.clients.Gather()
	c.active()
}

// beginParts begins anew with a program, if there is a driver for its agent.
func (c *core) beginParts(at time.Time) {
	if c.s.reg.driver(c.spec) != nil {
		c.kernel.Parts.Begin(at)
	}
}

func (c *core) createdData(first bool, d hold.StartedData) any {
	data := created{Agent: c.spec.Agent, PID: d.PID, Parent: orNil(c.spec.Parent), Depth: c.spec.Depth, Cols: d.Cols, Rows: d.Rows}
	if first {
		data.By, data.Queue = c.spec.CreatedBy, c.outbox.FirstWaiting()
	}
	return data
}

// programEnded takes in that the program has ended. Written says that a server before this one has
// written the events of that.
func (c *core) programEnded(written bool) (last []string) {
	c.kernel.Screen.Use()
	last = c.lastLines()
	c.clients.ProgramEnded()
	c.kernel.Emit.Flush()
	c.gates.KeepLogs() // what the agent said last of its log
	if c.track.Follows() {
		c.prompts.Ending(written)
		if !written {
			c.track.Ending()
		}
		c.kernel.Parts.End()
		c.track.Ended(written)
	}
	return last
}

// The event of an end before the agent was ready has at most so much of what the agent showed.
const (
	lastLinesMost = 12
	lastLineMost  = 300 // characters
)

// lastLines are the last lines on the screen of an agent that never was ready;
// nil for any other program.
func (c *core) lastLines() []string {
	term := c.kernel.Screen.Terminal()
	if fold := c.track.Fold(); fold == nil || term == nil || c.life.Ending() || fold.Status().Ready {
		return nil
	}
	var lines []string
	for _, text := range term.Snapshot(0).Text() {
		text = strings.TrimSpace(terminal.Printable(text))
		if r := []rune(text); len(r) > lastLineMost {
			text = string(r[:lastLineMost])
		}
		if text != "" {
			lines = append(lines, text)
		}
	}
	return lines[max(0, len(lines)-lastLinesMost):]
}

// exitedError says why the program cannot be written to.
func (c *core) exitedError() error {
	if c.life.Exit() == nil && c.track.State() != agent.Exited {
		return api.Errorf(api.CodeNotReady, "the program of %s cannot be reached now: its state is %s", c.spec.Name, c.track.State())
	}
	return api.Errorf(api.CodeExited, "%s has ended: restart starts it again", c.spec.Name).With("session", c.spec.Name)
}
