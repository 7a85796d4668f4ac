package detect

import (
	"time"

	"berth/agent"
)

// stuck ends the turn of an agent that shows an error and nothing else. The table has the time that
// the error must stay on the screen. The error must be newer than the turn's start, or than the
// last turn's end.
func (f *Fold) stuck() {
	m := &f.m
	after, r := f.after(agent.MoveFail, agent.SourceScreen), m.Screen.Reading
	if after == 0 || m.Screen.Failed.IsZero() || r.Busy != "" && !r.Guess || r.Dialog != nil || m.Failure != nil || len(m.Requests) > 0 {
		return
	}
	if l := f.level(); l != nil && l.Value == agent.LevelBusy {
		return
	}
	begun := m.EndedAt
	if m.Turn.Phase != "" {
		begun = m.Turn.Started
	}
	if !m.Screen.Failed.Before(begun) && f.due(agent.MoveFail, agent.SourceScreen, m.Screen.Failed, after) {
		f.fail(&agent.Fact{Source: agent.SourceScreen, Cause: "screen:error", Evidence: r.Failed.Text, Failure: r.Failed})
	}
}

// restGrace is how long the screen must show a composer when no other source says anything.
func (f *Fold) restGrace() time.Duration {
	if after := f.after(agent.MoveRest, agent.SourceScreen); after > 0 {
		return after
	}
	return f.o.ScreenGrace
}

// rest ends a turn whose end was reported, once no source shows work.
func (f *Fold) rest() {
	m := &f.m
	if m.Turn.Phase != ending || m.Gate || f.afterwards() {
		return
	}
	if at := m.Turn.Reports; !at.IsZero() && !f.due(agent.MoveDone, m.Turn.By, at, reportsWithin) {
		return
	}
	l := f.level()
	switch {
	case l == nil:
		if len(m.Background) > 0 && m.Turn.How == agent.Completed || f.drawsWork() {
			return
		}
	case l.Value == agent.LevelBusy:
		if !f.silent(l) {
			return
		}
		f.doubt(l.Source, l.why(), m.Turn.By, m.Turn.Why)
	case l.Value == agent.LevelWaiting && f.askedAgain():
		return
	case !f.alone() && !f.due(agent.MoveDone, l.Source, l.Since, turnGap):
		return
	}
	if f.agree(m.Turn.By) {
		f.finish(false)
	}
}

// alone reports whether no turn can follow the ended one at once, so that "not busy" means rest: a hook
// reported the end, the state file says "idle" since, and neither a message nor a background task's
// result can wait in the agent.
func (f *Fold) alone() bool {
	t, i := &f.m.Turn, f.m.Levels[agent.SourceRegistry]
	return !f.m.Follows && len(f.m.Background) == 0 && t.Reports.IsZero() && t.By == agent.SourceHook &&
		i != nil && i.Value == agent.LevelIdle && i.Since.After(t.Started)
}

// drawsWork reports whether the screen still shows work after the reported end of a turn, for an agent
// that takes no message before it draws its composer at rest. The table has the most that it takes.
func (f *Fold) drawsWork() bool {
	m := &f.m
	after, ok := f.table.May(agent.MoveDone, agent.SourceScreen)
	if r := m.Screen.Reading; !ok || r == nil || !m.Screen.Bare.IsZero() {
		return false
	}
	return !f.due(agent.MoveDone, agent.SourceScreen, m.Turn.Ended, after)
}

// askedAgain reports whether a prompt was opened after the turn's reported end. Two turns ran at
// once then, and the report was about the other one.
func (f *Fold) askedAgain() bool {
	for _, r := range f.m.Requests {
		if r.Agent == "" && r.Opened.After(f.m.Turn.Ended) {
			return true
		}
	}
	return false
}

// logLags is how much later than a live state file the log may report a turn's error, for an agent
// without hooks. The file said idle up to 150 ms before the log had the error, on a loaded machine.
const logLags = 200 * time.Millisecond

// logFollows is how much longer a state file's "idle" waits for the log, so that an error isn't
// first reported as idle. It is 0 for a turn that a hook reported, because a hook reports the
// failure too, and for rest that closes a prompt, because that is a person's denial.
func (f *Fold) logFollows(s agent.Source, rests time.Time) time.Duration {
	if !f.m.ClosedAt.IsZero() && !f.m.ClosedAt.Before(rests) {
		return 0
	}
	if s != agent.SourceRegistry || f.m.Turn.Source == agent.SourceHook || !f.may(agent.MoveFail, agent.SourceLog) {
		return 0
	}
	return logLags
}

// undrawnFor is how long an agent may take to draw the work of a turn that it has reported. opencode took 7 s
// at twenty times the load that the machine can carry.
const undrawnFor = 30 * time.Second

// interrupted ends a turn without a reported end, when the sources show that the agent rests.
func (f *Fold) interrupted() {
	m := &f.m
	if m.Turn.Phase != running || len(m.Requests) > 0 || m.Gate || f.waits() != nil {
		return
	}
	l, bare := f.level(), m.Screen.Bare
	if i := f.idles(); i != nil && !i.Since.Before(m.Turn.Started) && f.may(agent.MoveRest, i.Source) {
		if f.due(agent.MoveRest, i.Source, i.Since, f.after(agent.MoveRest, i.Source)+f.logFollows(i.Source, i.Since)) && f.agree(i.Source) {
			f.infer(i.Source, i.Cause, i.Evidence)
		}
		return
	}
	if bare.IsZero() {
		if l == nil {
			f.quiet()
		}
		return
	}
	switch {
	case l == nil:
		if m.Turn.Source == agent.SourceScreen {
			f.restByScreen(latest(bare, m.Turn.Started), f.restGrace())
			return
		}
		still := silence
		if !bare.After(m.Turn.Started) {
			still = undrawnFor // the screen hasn't shown this turn
		}
		f.restByScreen(latest(bare, m.Changed, m.Screen.Changed), still)
	case l.Value == agent.LevelBusy:
		if f.silent(l) && f.restByScreen(bare, silence) {
			f.doubt(l.Source, l.why(), agent.SourceScreen, f.m.EndedWhy)
		}
	case l.Since.Before(f.spokenFrom()): // it says nothing about this turn
		if l.Source == agent.SourceTitle && m.Turn.Source == agent.SourceHook {
			f.restByScreen(latest(bare, m.Turn.Started, m.Changed, m.Screen.Changed), drawsWithin)
			return
		}
		f.restByScreen(latest(bare, m.Turn.Started), f.restGrace())
	default:
		if f.due(agent.MoveRest, l.Source, latest(l.Since, bare), f.after(agent.MoveRest, l.Source)+f.asksSoon()) && f.may(agent.MoveRest, l.Source) && f.agree(l.Source) {
			f.infer(l.Source, l.Cause, "composer on the screen, no work, no dialog")
		}
	}
}

// asksSoon is how much longer a level's "not busy" waits while a call runs. The agent may be about to ask
// for it: its level says so before the hook that asks has come, and a draft in the composer holds the dialog back.
func (f *Fold) asksSoon() time.Duration {
	r := f.m.Screen.Reading
	if r == nil || r.Composer == nil || r.Composer.Empty || len(f.m.Calls) == 0 {
		return 0
	}
	return hookLate
}

// infer ends a turn without a reported end, by what the source shows.
func (f *Fold) infer(s agent.Source, cause, evidence string) {
	f.mark(s, cause, evidence)
	f.m.Turn.By = s
	f.finish(true)
}

// quiet ends a turn that neither a level nor the screen covers: nothing was logged, printed or
// reported for IdleGrace, and no tool runs.
func (f *Fold) quiet() {
	m := &f.m
	r := m.Screen.Reading
	if r != nil && (r.Composer != nil || r.Dialog != nil || r.Busy != "") || len(m.Calls) > 0 || f.o.Headless {
		return
	}
	if !f.may(agent.MoveRest, agent.SourceLog) || !f.due(agent.MoveRest, agent.SourceLog, latest(m.Changed, m.Turn.Started), f.o.IdleGrace) {
		return
	}
	f.infer(agent.SourceLog, "log:quiet", "nothing was logged or printed for "+f.o.IdleGrace.String())
}

// spokenFrom is the earliest time at which a "not busy" level may refer to the current turn. A
// level can arrive slightly before the turn's start event, so it allows turnGap, unless the source
// gives the start's own time. That time may be reported late: when it was read 0.2 s after both, a
// draft's "idle" ended the turn that the draft became.
func (f *Fold) spokenFrom() time.Time {
	t := &f.m.Turn
	if !t.At.IsZero() {
		return t.Started
	}
	return t.Started.Add(-turnGap)
}

// restByScreen ends the turn when the screen has shown the composer for long enough.
func (f *Fold) restByScreen(since time.Time, grace time.Duration) bool {
	if !f.may(agent.MoveRest, agent.SourceScreen) || !f.due(agent.MoveRest, agent.SourceScreen, since, grace) || !f.agree(agent.SourceScreen) {
		return false
	}
	f.infer(agent.SourceScreen, "screen:composer", "composer on the screen, no work, no dialog")
	return true
}
