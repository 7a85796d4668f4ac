package detect

import (
	"slices"

	"berth/agent"
)

// Any process of the session can keep the first frame of a dialog from Berth, end the call's hook before it reports, and draw another dialog
// in its place. Hooks can be forged. The session log is the agent's own: it has each call before its dialog, and its result after that. So
// Berth keeps what the log alone says of the calls, whatever hooks report of them. A call without a result there, whose dialog was never on
// the screen, may be open below the drawn one, and no key is pressed. Such a call may also run unasked, or wait for its turn to ask. That
// isn't known, and a person who is attached can press the key. This is for drivers that implement agent.OpenCallReader.

// openKept bounds the calls, and the subagents, that the log says are open. After one more, any dialog may be that of one that had no room.
const openKept = 64

// followsLog keeps what a fact of the session log says of the open calls.
func (f *Fold) followsLog(fact *agent.Fact) {
	m := &f.m
	if _, ok := f.driver.(agent.OpenCallReader); !ok || fact.Source != agent.SourceLog {
		return
	}
	if fact.Kind == agent.TurnEnded || fact.Kind == agent.TurnStarted {
		other := func(c logCall) bool { return fact.Kind == agent.TurnEnded || c.Turn != fact.Turn }
		m.Open = slices.DeleteFunc(m.Open, other)
		m.OpenMore = m.OpenMore && len(m.Open) > 0
	}
	if fact.Finishes != "" {
		m.Away = slices.DeleteFunc(m.Away, func(id string) bool { return id == fact.Finishes })
	}
	if fact.Launches != "" && !slices.Contains(m.Away, fact.Launches) {
		m.Away, m.OpenMore = bounded(append(m.Away, fact.Launches), m.OpenMore)
	}
	switch {
	case fact.Call == "":
	case fact.Kind == agent.ToolStarted:
		c := logCall{ID: fact.Call, Tool: fact.Tool, Agent: fact.Agent, Input: canonical(fact.Input), Turn: fact.Turn}
		if !slices.ContainsFunc(m.Open, func(o logCall) bool { o.Asked = false; return o == c }) {
			m.Open, m.OpenMore = bounded(append(m.Open, c), m.OpenMore)
		}
	default: // each other report about a call is of its result
		m.Lost = slices.DeleteFunc(m.Lost, func(r *request) bool { return r.Given && r.Call == fact.Call })
		m.Open = slices.DeleteFunc(m.Open, func(c logCall) bool { return c.ID == fact.Call })
	}
}

// bounded drops the oldest one without room. more says whether one was dropped.
func bounded[T any](all []T, more bool) ([]T, bool) {
	if len(all) <= openKept {
		return all, more
	}
	return slices.Clone(all[1:]), true
}

// isDrawn reports whether the dialog may be about the call.
func (f *Fold) isDrawn(c *logCall, d *agent.Dialog) bool {
	f.onPicture(d)
	key := drawnCall{tool: c.Tool, input: c.Input}
	is, done := f.drawnOpen[key]
	if !done {
		if is = f.driver.Match(d, f.called(&call{Tool: c.Tool, Input: c.Input})) != agent.NoMatch; !is && d.Agent == "" {
			if l, reads := f.driver.(agent.CallLogReader); reads {
				shown, _ := l.LoggedCall(d, c.Tool, []byte(c.Input))
				is = shown != agent.NoMatch
			}
		}
		f.drawnOpen[key] = is
	}
	return is
}

// drawsOpen records that a call's dialog is on the screen. One dialog is one call's, and of equal ones it is the first that hasn't asked.
func (f *Fold) drawsOpen(d *agent.Dialog) {
	m := &f.m
	if m.Face.Key == "" || m.OpenAsked.Equal(m.Face.Since) {
		return
	}
	for i := range m.Open {
		if c := &m.Open[i]; !c.Asked && f.isDrawn(c, d) {
			c.Asked, m.OpenAsked = true, m.Face.Since
			return
		}
	}
}

// mayAsk reports whether the dialog of a call of the log may be open without having been on the screen.
func (f *Fold) mayAsk(c *logCall) bool {
	l, ok := f.driver.(agent.OpenCallReader)
	return ok && !c.Asked && !l.OpenCalls().Quiet[c.Tool]
}

// coversOpen reports whether a call of the session log may have a dialog that never was on the screen. Where a hook waits beside its dialog, it
// takes the answer. So any such call counts there, and a subagent, whose calls aren't in this log. Otherwise keys answer the first of parallel
// calls, and a call counts that the log has before the dialog's own.
func (f *Fold) coversOpen(d *agent.Dialog) bool {
	m := &f.m
	l, ok := f.driver.(agent.OpenCallReader)
	if !ok {
		return false
	}
	if m.Hooked && l.OpenCalls().BesideHook {
		open := func(c logCall) bool { return f.mayAsk(&c) && !f.isDrawn(&c, d) }
		return m.OpenMore || len(m.Away) > 0 && d.Agent == "" || slices.ContainsFunc(m.Open, open)
	}
	own := slices.IndexFunc(m.Open, func(c logCall) bool { return f.isDrawn(&c, d) })
	return d.Type != agent.PromptForm && own > 0 && slices.ContainsFunc(m.Open[:own], func(c logCall) bool { return f.mayAsk(&c) })
}
