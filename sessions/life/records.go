package life

import (
	"berth/agent"
	"berth/api"
	"berth/sessions/hold"
	"berth/sessions/loop"
)

type exitEvent struct {
	Code    *int   `json:"code"`
	Signal  string `json:"signal"`
	Crashed bool   `json:"crashed"`
	Lost    bool   `json:"lost"`
	Reason  string `json:"reason,omitempty"` // why the system has ended it
	// LastLines are what an agent showed that ended before it was ready: its own word for why.
	LastLines []string `json:"last_lines,omitempty"`
}

// startedRecord takes in that a program has started.
func (l *Life) startedRecord(r hold.Record) error {
	d, err := loop.Decode[hold.StartedData](r)
	if err != nil {
		return err
	}
	written := l.env.Written(r.N)
	l.child = Child{d.PID, d.Start}
	l.exit, l.started = nil, l.env.OnClock(r.Time.Time)
	if !written {
		l.lost = nil // that was the program before
	}
	l.endedBy = loop.By{}
	if len(l.ends) == 0 { // otherwise the end was asked for while it started, and has no record if it ends by itself before that
		l.ending, l.again = false, false
	}
	l.restarts.cancel()
	first := r.N == 1
	l.env.Begin(r.Time.Time, first, d)
	if !written && l.env.State() == agent.Exited { // the server before this one could not report it
		l.env.SetState(agent.Restarting, "process:restart")
	}
	kind := "restarted"
	if first {
		kind = "session_created"
	}
	l.env.Event(r, kind, l.env.Created(first, d))
	l.env.Changed()
	return nil
}

// endRecord takes in that a caller has asked this server, or the one before it, for the end. Such an
// end isn't a crash, so it causes no automatic restart. An end without a mark comes from the system,
// which is shutting down.
func (l *Life) endRecord(r hold.Record) error {
	d, err := loop.Decode[hold.EndData](r)
	if err != nil || len(d.Mark) == 0 {
		return err
	}
	mark := loop.ReadMark(d.Mark)
	l.ending, l.again, l.endedBy = true, mark.Verb == VerbRestart, mark.By
	return nil
}

// exitRecord takes in that the program has ended.
func (l *Life) exitRecord(r hold.Record) error {
	d, err := loop.Decode[hold.Exit](r)
	if err != nil {
		return err
	}
	exit := &api.Exit{Signal: d.Signal, Time: r.Time}
	if d.Signal == "" {
		code := d.Code
		exit.Code = &code
	}
	if d.OOMLimit > 0 {
		why := outOfMemory(d.OOMLimit)
		exit.Reason = &why
	}
	exit.Crashed = !l.ending && (d.Signal != "" || d.Code != 0)
	l.ended(exit, r, l.env.Written(r.N))
	return nil
}

// oomEvent is about processes of the session that the kernel has killed, because it had reached its limit.
type oomEvent struct {
	Reason string `json:"reason"`
	Kills  int64  `json:"kills"`
	Limit  int64  `json:"limit"` // in bytes
}

// oomRecord takes in that the kernel has killed processes of the session for its limit of memory.
func (l *Life) oomRecord(r hold.Record) error {
	d, err := loop.Decode[hold.OOMData](r)
	if err == nil && !l.env.Written(r.N) {
		l.env.Event(r, "out_of_memory", oomEvent{Reason: outOfMemory(d.Limit), Kills: d.Kills, Limit: d.Limit})
	}
	return err
}

func outOfMemory(limit int64) string { return "out of memory: limit " + api.Size(limit) }

// ended makes the session an ended one. Its screen, output and events stay. Written says that the
// server before this one has written the events of the end.
func (l *Life) ended(exit *api.Exit, r hold.Record, written bool) {
	l.exit = exit
	exit.Crashed = exit.Crashed && !l.onceMore()
	last := l.env.End(written)
	if !written && !l.onceMore() {
		told := exitEvent{Code: exit.Code, Signal: exit.Signal, Crashed: exit.Crashed, Lost: exit.Lost, LastLines: last}
		if exit.Reason != nil {
			told.Reason = *exit.Reason
		}
		l.env.Event(r, "exited", told)
		l.env.SetState(agent.Exited, "process:exit")
	}
	l.env.Changed()
	l.planRestart(written)
	l.env.Publish() // a client that read the event must not see the state before it for as long as Save takes
	l.env.Save()
	l.env.Publish()
	l.endsDone(nil)
	l.env.Ended()
}

// planRestart decides whether an ended program is started again.
func (l *Life) planRestart(written bool) {
	policy := l.env.Spec().Restart
	failed := l.exit.Lost || l.exit.Signal != "" || l.exit.Code != nil && *l.exit.Code != 0
	now := l.env.Now()
	switch {
	case l.again: // a caller asked for it
		l.again = false
		l.restarts.at = now
	case l.onceMore(): // the program asked for it
		l.restarts.more(now)
	case !l.ending && (policy == RestartAlways || policy == RestartOnFailure && failed):
		l.restarts.plan(now)
	default:
		return
	}
	if !written { // otherwise the start that followed has its events too, or follows now
		l.env.SetState(agent.Restarting, "process:exit")
	}
}
