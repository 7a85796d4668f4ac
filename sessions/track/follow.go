package track

import (
	"time"

	"berth/agent"
	"berth/api"
	"berth/detect"
	"berth/sessions/events"
	"berth/sessions/process"
)

// Visitor is the followed visitor; nil when the session's own program is followed.
func (t *Track) Visitor() *Visitor { return t.visitors.now }

// AgentPID is the process of the followed agent. A relay such as sudo gives a visitor a terminal of its own.
func (t *Track) AgentPID() int {
	if v := t.visitors.now; v != nil {
		return v.PID
	}
	return t.env.Child().PID
}

// Gone reports whether the followed agent is a visitor that isn't in the foreground any more. A key would then reach
// another program.
func (t *Track) Gone() bool {
	g := t.visitors.now
	return g != nil && !g.present(t.inFront())
}

// followVisitor starts to follow an agent that is in the foreground, and ends that when it isn't.
func (t *Track) followVisitor(seen agent.Process, now time.Time, active bool) {
	if t.d == nil || !t.d.waking.live || !t.env.TakesVisitors() {
		return
	}
	g := &t.visitors
	if g.now != nil && g.now.present(seen) {
		if now.Sub(g.now.Since.Time) < visitorStarts {
			t.deepen(seen)
		}
		return
	}
	var found *Visitor
	if g.now != nil || t.searches(seen, now, active) {
		g.searched = now
		found = t.env.FindVisitor(seen.Foreground)
	}
	switch {
	case found.is(g.now): // in another process group
		found.Since, g.now = g.now.Since, found
	case found != nil || g.now != nil:
		t.change(found, seen, now)
	case active:
		g.before = t.env.Terminal().Snapshot(0)
	}
}

// searches reports whether an agent is searched for. A quiet shell is not searched.
func (t *Track) searches(seen agent.Process, now time.Time, active bool) bool {
	g := &t.visitors
	if g.group != seen.Foreground {
		g.group, g.groupAt = seen.Foreground, now
	}
	switch {
	case seen.Foreground == 0:
		return false
	case now.Sub(g.groupAt) < visitorSoon:
		return true
	}
	return (active || seen.Foreground != seen.Leader) && now.Sub(g.searched) >= visitorEvery
}

// visitorLeft reports whether a visitor that an earlier server followed isn't in the foreground any more. What is
// there is followed then.
func (t *Track) visitorLeft(now time.Time) bool {
	g, seen := t.visitors.now, t.inFront()
	if g == nil || g.present(seen) {
		return false
	}
	found := t.env.FindVisitor(seen.Foreground)
	if found.is(g) {
		found.Since, t.visitors.now = g.Since, found
		return false
	}
	t.d.waking.live = true
	t.change(found, seen, now)
	t.env.ReleaseHooks()
	return true
}

// deepen follows the files of the agent's own process, once a program that only starts it has done so.
func (t *Track) deepen(seen agent.Process) {
	found := t.env.FindVisitor(seen.Foreground)
	if found == nil || found.Agent != t.visitors.now.Agent || found.is(t.visitors.now) {
		return
	}
	t.env.Moved(t.visitors.now, found)
	found.Since, t.visitors.now = t.visitors.now.Since, found
	t.d.files.state.Stop()
	t.d.files.state, t.d.stateSeen = nil, nil
	t.env.SaveSoon()
}

// change ends the following of one program and starts that of another: visitor, or with nil the session's own. The
// fold of the new one starts anew, but for a dialog that may still be there.
func (t *Track) change(visitor *Visitor, seen agent.Process, now time.Time) {
	old, g := t.d, &t.visitors
	t.Ending()
	t.env.Leave()
	old.meter.End()
	t.said = t.lastSaid()
	old.close()
	returns := visitor.is(g.last) && g.ready
	if g.now != nil {
		g.ready = old.fold.Status().Ready || g.now.is(g.last) && g.ready
		g.last = g.now
	}
	leaves := old.fold.Leaves()
	left := old.fold.Apply(agent.Fact{Kind: agent.ProgramExited, Source: agent.SourceProcess, Cause: causeForeground, Time: old.clock(now)})
	left.Transitions = nil // the state follows from what is in the foreground now

	recent, before := g.recent, g.before
	if g.now, g.recent, g.before = visitor, nil, nil; visitor != nil {
		visitor.Since = api.At(now)
	}
	t.mode = ""
	driver := t.env.Fresh()
	d := newDetection(driver, old.last)
	o := t.options(d, old.last)
	o.Returns, o.Left = returns, leaves
	d.fold = detect.New(driver, o)
	d.waking = waking{live: true, at: now, unseen: true}
	t.d = d
	t.env.Enter(now)
	e := visitorEvent{Agent: driver.Name(), PID: t.env.Child().PID}
	if visitor != nil {
		e.Attached, e.PID = orNil(AttachedForeground), visitor.PID
	}
	t.Emit([]detect.Result{left}, events.Event{Type: eventAgent, Data: e})
	if visitor != nil && !returns && process.Age(visitor.Start) < visitorStarts {
		t.SetState(agent.Starting, agent.TierProcess, causeForeground) // the shell's idle isn't the agent's
	}
	if visitor != nil && !visitor.is(g.last) {
		if before != nil {
			d.screen.viewer.Skip(before)
		}
		age := process.Age(visitor.Start)
		for _, n := range recent {
			switch {
			case now.Sub(n.at) >= age-shellSays: // the shell's, or that of a program before
			case n.osc == 0:
				t.facts(driver.Title(n.text))
			default:
				t.facts(driver.OSC(n.osc, n.text))
			}
		}
	}
	d.screen.due = now
	t.watchFiles()
	t.readStateFile()
	t.supervise(seen)
	t.env.SaveSoon()
}

// lookForVisitor polls the foreground before a hook's event is applied: an agent's first event may come before the
// next poll. Many hooks in a row cause few searches.
func (t *Track) lookForVisitor() {
	if t.d == nil || !t.d.waking.live || t.visitors.now != nil || t.env.Link() == nil || !t.env.TakesVisitors() {
		return
	}
	if seen, now := t.inFront(), t.env.Now(); t.visitors.dueAtHook(seen.Foreground, now) {
		t.followVisitor(seen, now, true)
	}
}

// dueAtHook reports whether an agent is searched for before a hook's event, also soon after a poll did so.
func (g *visitors) dueAtHook(front int, now time.Time) bool {
	if front == g.group && now.Sub(g.hooked) < visitorEvery {
		return false
	}
	g.hooked, g.searched = now, time.Time{}
	return true
}
