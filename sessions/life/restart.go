package life

import (
	"time"

	"berth/agent"
	"berth/sessions/loop"
)

// Restart says when an ended program is started again by itself.
type Restart string

// The restart policies.
const (
	RestartNever     Restart = "never"
	RestartOnFailure Restart = "on-failure"
	RestartAlways    Restart = "always"
)

type limitEvent struct {
	Why string `json:"why"` // ttl or idle_timeout
}

// judgeEnd completes what a server before this one could not: the state of an ended program, and a
// start that it had planned.
func (l *Life) judgeEnd(now time.Time) {
	if !l.Over() || l.removing > 0 || l.env.Linked() {
		return
	}
	switch l.env.State() {
	case agent.Exited:
	case agent.Restarting:
		if _, planned := l.restarts.due(); !planned {
			l.restarts.plan(now)
		}
	default:
		l.env.SetState(agent.Exited, "process:exit")
	}
}

// limits starts a program again when that is due, and ends one whose time is over.
func (l *Life) limits(now time.Time) {
	if at, ok := l.restarts.due(); ok && !now.Before(at) && l.Over() {
		l.startAgain()
	}
	if at, ok := l.limitsDue(); ok && !now.Before(at) {
		l.env.Note("session_limit", limitEvent{Why: l.limitWhy(now)})
		l.Stop(loop.Mark{By: loop.Berth, Verb: "limit"}, EndGrace, make(chan error, 1))
	}
}

// limitsDue is when the session's ttl or idle_timeout runs out.
func (l *Life) limitsDue() (time.Time, bool) {
	var at time.Time
	if l.exit != nil || l.ending || !l.env.Linked() || l.started.IsZero() {
		return at, false
	}
	spec := l.env.Spec()
	if spec.TTL > 0 {
		at = l.started.Add(spec.TTL)
	}
	if spec.Idle > 0 {
		if t := loop.Later(l.started, l.env.Used()).Add(spec.Idle); at.IsZero() || t.Before(at) {
			at = t
		}
	}
	if !spec.Ends.IsZero() && (at.IsZero() || spec.Ends.Before(at)) {
		at = spec.Ends
	}
	return at, !at.IsZero()
}

func (l *Life) limitWhy(now time.Time) string {
	if ends := l.env.Spec().Ends; !ends.IsZero() && !now.Before(ends) {
		return "lifetime"
	}
	if ttl := l.env.Spec().TTL; ttl > 0 && !now.Before(l.started.Add(ttl)) {
		return "ttl"
	}
	return "idle_timeout"
}

// Events are the fields of each type of event of this package, beside those of the head.
var Events = map[string]any{"exited": exitEvent{}, "session_limit": limitEvent{}, "out_of_memory": oomEvent{}}
