package sessions

import (
	"fmt"
	"strings"

	"berth/agent"
	"berth/api"
	"berth/sessions/events"
	"berth/sessions/hold"
	"berth/sessions/loop"
	"berth/sessions/track"
	"berth/terminal"
)

// apply does what one control record says, to the emulator always and as an
// event if it has not made one before.
func (c *core) apply(r hold.Record) {
	if c.reviewing {
		c.review(r)
		c.applied = r.N
		return
	}
	var err error
	switch r.Kind {
	case hold.KindStarted:
		err = c.applyStarted(r)
	case hold.KindReply:
		err = c.applyReply(r)
	case hold.KindLoss:
		err = c.applyLoss(r)
	case hold.KindEnd:
		err = c.applyEnd(r)
	case hold.KindExit:
		err = c.applyExit(r)
	default:
		err = c.applyToParts(r)
	}
	if err != nil {
		c.trouble(fmt.Sprintf("read control record %d (%s)", r.N, r.Kind), err)
	}
	c.applied = r.N
}

// freshStart puts the emulator into the state of a new terminal but for its
// history, when a program starts anew in an old session: normal screen, soft
// reset, mouse and other modes off, no title, below what was there.
const freshStart = "\x18\x1b]0;\x07\x1b[?1049l\x1b[!p\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1006l\x1b[?2004l\x1b[<99u\x1b[>4;0m\x1b[0m\x1b[r\x1b[999;1H\r\n"

func (c *core) applyStarted(r hold.Record) error {
	d, err := loop.Decode[hold.StartedData](r)
	if err != nil {
		return err
	}
	c.becomes(child{pid: d.PID, start: d.Start})
	c.exit, c.started, c.dirty = nil, c.onClock(r.Time.Time), true
	if r.N > c.told {
		c.lost = nil // that was the program before
	}
	c.ending, c.again = false, false // an end asked for since has its own record behind this one
	c.restarts.cancel()
	first := r.N == 1
	c.beginParts(r.Time.Time)
	c.freshTerm(first, d.Cols, d.Rows)
	c.clients.SizeIs(d.Cols, d.Rows)
	c.clients.Gather()
	if r.N > c.told && c.track.State() == agent.Exited { // the server before this one could not say so
		c.track.SetState(agent.Restarting, agent.TierProcess, "process:restart")
	}
	if first {
		c.event(r, "session_created", created{Agent: c.spec.Agent, PID: d.PID, Parent: orNil(c.spec.Parent), Depth: c.spec.Depth, By: c.spec.CreatedBy, Cols: d.Cols, Rows: d.Rows, Queue: c.outbox.FirstWaiting()})
	} else {
		c.event(r, "restarted", created{Agent: c.spec.Agent, PID: d.PID, Parent: orNil(c.spec.Parent), Depth: c.spec.Depth, Cols: d.Cols, Rows: d.Rows})
	}
	c.active()
	return nil
}

// freshTerm makes the emulator ready for a new program.
func (c *core) freshTerm(first bool, cols, rows int) {
	if !first {
		at := c.term.Offset()
		_, _ = c.term.Write([]byte(freshStart)) // never fails
		if track.ReadsScreen(c.s.reg.driver(c.spec)) {
			c.scrollOut()
		}
		c.term.SetOffset(at)
	}
	c.resizeTerm(cols, rows)
}

// scrollOut moves what is on the screen into the history. A driver reads the
// screen: a dialog that the program before left there would be taken for one
// of its own.
func (c *core) scrollOut() {
	lines := c.term.Snapshot(0).Lines
	used := len(lines)
	for used > 0 && strings.TrimSpace(lines[used-1].Text()) == "" {
		used--
	}
	_, _ = c.term.Write([]byte("\x1b[999;1H" + strings.Repeat("\n", used) + "\x1b[H")) // never fails
}

// review does what a record means for the picture alone.
func (c *core) review(r hold.Record) {
	switch r.Kind {
	case hold.KindStarted:
		if d, err := loop.Decode[hold.StartedData](r); err == nil {
			c.freshTerm(r.N == 1, d.Cols, d.Rows)
		}
	case hold.KindResize:
		if d, err := loop.Decode[hold.ResizeData](r); err == nil {
			c.resizeTerm(d.Cols, d.Rows)
		}
	}
}

// resizeTerm gives the emulator another size. Clients that follow get the last
// bytes of the old size first and are repainted then.
func (c *core) resizeTerm(cols, rows int) {
	c.spec.Cols, c.spec.Rows = cols, rows
	if oldCols, oldRows := c.term.Size(); oldCols == cols && oldRows == rows {
		return
	}
	c.clients.PassOn()
	c.term.Resize(cols, rows)
	c.clients.Resized()
	c.dirty = true
}

func (p *progress) applyReply(r hold.Record) error {
	d, err := loop.Decode[hold.ReplyData](r)
	if err == nil {
		p.replyAt = max(p.replyAt, d.At)
	}
	return err
}

func (c *core) applyLoss(r hold.Record) error {
	d, err := loop.Decode[hold.LossData](r)
	if err != nil {
		return err
	}
	c.losses += d.To - d.From
	c.clients.Gather()
	c.event(r, "output_lost", lossEvent{From: d.From, To: d.To, Records: d.Records, Why: d.Why})
	return nil
}

func (c *core) applyExit(r hold.Record) error {
	d, err := loop.Decode[hold.Exit](r)
	if err != nil {
		return err
	}
	exit := &api.Exit{Signal: d.Signal, Time: r.Time}
	if d.Signal == "" {
		code := d.Code
		exit.Code = &code
	}
	exit.Crashed = !c.ending && (d.Signal != "" || d.Code != 0)
	c.ended(exit, r, r.N <= c.told)
	return nil
}

// event writes an event that a control record caused, unless that record has
// made one before.
func (c *core) event(r hold.Record, kind string, data any) {
	if r.N != 0 && r.N <= c.told {
		return
	}
	c.append(events.Event{Type: kind, Cause: r.N, Data: data})
	c.told = max(c.told, r.N)
}

// note writes an event that the server itself caused.
func (c *core) note(kind string, data any) uint64 {
	return c.append(events.Event{Type: kind, Data: data})
}

func (c *core) append(e events.Event) uint64 {
	e.Session, e.ID = c.spec.Name, c.s.id
	done, err := c.s.reg.events.Append(e)
	c.dirty = true
	if err != nil {
		c.trouble("write an event", err)
		return done.Seq
	}
	c.cured("write an event")
	return done.Seq
}

// appendAll writes events of this session in one step.
func (c *core) appendAll(batch []events.Event) []events.Event {
	for i := range batch {
		batch[i].Session, batch[i].ID = c.spec.Name, c.s.id
	}
	done, err := c.s.reg.events.AppendAll(batch...)
	if err != nil {
		c.trouble("write an event", err)
		return done
	}
	c.cured("write an event")
	return done
}

// nextEvent is the number of the session's next event.
func (c *core) nextEvent() uint64 { return c.s.reg.events.LastSeq(c.s.id) + 1 }

// termOptions are those of the session's emulator.
func (c *core) termOptions() terminal.Options {
	return terminal.Options{
		Cols: c.spec.Cols, Rows: c.spec.Rows, Scrollback: c.spec.Limits.Scrollback, Clipboard: c.s.reg.options.Clipboard, Now: c.s.reg.now,
		Handlers: terminal.Handlers{
			Reply:  c.reply,
			Title:  c.titled,
			Notice: c.noticed,
		},
	}
}

// titled and noticed pass on what the program tells its terminal.
func (c *core) titled(title string) {
	c.dirty = true
	c.track.Title(title)
}

func (c *core) noticed(n terminal.Notice) {
	if !c.reviewing {
		c.track.Notice(n.OSC, n.Payload)
	}
}

// reply answers the program's query of its terminal, unless that was done
// before or is a replay. The holder has the last word: it types each answer
// once, and none that is late.
func (c *core) reply(data []byte, at int64) {
	if c.link() == nil || at <= c.replyAt {
		return
	}
	c.replyAt = at
	c.link().Reply(data, at)
}
