package sessions

import (
	"slices"
	"strings"

	"berth/agent"
	"berth/api"
	"berth/sessions/hold"
	"berth/sessions/loop"
	"berth/terminal"
)

// ended makes the session an ended one. Its screen, output and events stay.
// What was told before, by the server before this one, is not told again.
func (c *core) ended(exit *api.Exit, r hold.Record, told bool) {
	c.exit, c.pictureAge = exit, c.now()
	exit.Crashed = exit.Crashed && !c.onceMore()
	last := c.lastLines()
	c.clients.ProgramEnded()
	c.flushAllPaced()
	c.gates.KeepLogs() // what the agent said last of its log
	c.endParts(told)
	if !told && !c.onceMore() {
		c.event(r, "exited", exitEvent{Code: exit.Code, Signal: exit.Signal, Crashed: exit.Crashed, Lost: exit.Lost, LastLines: last})
		c.track.SetState(agent.Exited, agent.TierProcess, "process:exit")
	}
	c.dirty = true
	c.planRestart(told)
	c.save()
	c.publish()
	c.endsDone(nil)
	c.clients.SizesDone()
}

// An end before the agent was ready is told with so much of what it showed.
const (
	lastLinesMost = 12
	lastLineMost  = 300 // characters
)

// lastLines are the last lines on the screen of an agent that never was ready;
// nil for any other program.
func (c *core) lastLines() []string {
	if fold := c.track.Fold(); fold == nil || c.term == nil || c.ending || fold.Status().Ready {
		return nil
	}
	var lines []string
	for _, text := range c.term.Snapshot(0).Text() {
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

// endsDone tells those who wait for the program's end.
func (l *life) endsDone(err error) {
	for _, done := range l.ends {
		done <- err
	}
	l.ends = nil
}

// applyEnd takes in that somebody has asked for the end, this server or the
// one before it: then the end is no crash, and no reason to start again by
// itself. An end without a mark is the system's, which goes down.
func (l *life) applyEnd(r hold.Record) error {
	d, err := loop.Decode[hold.EndData](r)
	if err != nil || len(d.Mark) == 0 {
		return err
	}
	l.ending, l.again = true, loop.ReadMark(d.Mark).Verb == verbRestart
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

// planRestart decides whether an ended program is started again.
func (c *core) planRestart(told bool) {
	failed := c.exit.Lost || c.exit.Signal != "" || c.exit.Code != nil && *c.exit.Code != 0
	again := c.spec.Restart == RestartAlways || c.spec.Restart == RestartOnFailure && failed
	switch {
	case c.again: // somebody asked for it
		c.again = false
		c.restarts.at = c.now()
	case c.onceMore(): // it asked itself
		c.restarts.more(c.now())
	case again && !c.ending:
		c.restarts.plan(c.now())
	default:
		return
	}
	if !told { // else the start that followed has been told too, or follows now
		c.track.SetState(agent.Restarting, agent.TierProcess, "process:exit")
	}
}

// onceMore says that the program ended to be started once more.
func (c *core) onceMore() bool {
	return !c.ending && c.exit.Code != nil && slices.Contains(c.spec.Again, *c.exit.Code)
}

// begun tells those who wait for a start how it went.
func (l *life) begun(err error) {
	for _, done := range l.begins {
		done <- err
	}
	l.begins = nil
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

const verbRestart = "restart"
