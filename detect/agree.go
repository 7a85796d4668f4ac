package detect

import (
	"time"

	"berth/agent"
)

// heedVersion: an agent of another version than was measured may mean something
// else by its signs.
func (f *Fold) heedVersion(fact *agent.Fact) {
	m := &f.m
	if fact.Version == "" || fact.Version == m.Version {
		return
	}
	m.Version = fact.Version
	if measured, ok := f.driver.(agent.Measurer); ok {
		m.Unmeasured = fact.Version != measured.MeasuredVersion()
	}
}

// after is how long the source's word must hold before it causes the move. Of a
// version that was not measured it is the longest of all sources.
func (f *Fold) after(m agent.Move, s agent.Source) time.Duration {
	d, _ := f.table.May(m, s)
	if f.m.Unmeasured {
		for _, w := range f.table[m] {
			d = max(d, w.After)
		}
	}
	return d
}

// agree says whether the turn may be taken for over. Of a measured version one
// surer source is enough; of another all that say anything must say that the
// agent rests, and have done so for a while.
func (f *Fold) agree() bool {
	m := &f.m
	if !m.Unmeasured {
		return true
	}
	since := latest(m.Turn.Ended, m.Turn.Started)
	for _, l := range m.Levels {
		switch l.Value {
		case agent.LevelWaiting:
			return false
		case agent.LevelBusy:
			if !f.silent(l) {
				return false
			}
		}
		since = latest(since, l.Since)
	}
	if r := m.Screen.Reading; r != nil && (r.Composer != nil || r.Dialog != nil || r.Busy != "") {
		if m.Screen.Bare.IsZero() {
			return false
		}
		since = latest(since, m.Screen.Bare)
	}
	return f.due(agent.MoveRest, agent.SourceScreen, since, f.o.ScreenGrace)
}

// quiet is the rule by which a turn ends of which neither a level nor the screen
// tells: nothing was logged, printed or told for the grace, and no tool runs.
func (f *Fold) quiet() {
	m := &f.m
	r := m.Screen.Reading
	if r != nil && (r.Composer != nil || r.Dialog != nil || r.Busy != "") || len(m.Calls) > 0 || f.o.Headless {
		return
	}
	if !f.may(agent.MoveRest, agent.SourceLog) || !f.due(agent.MoveRest, agent.SourceLog, latest(m.Changed, m.Turn.Started), f.o.IdleGrace) {
		return
	}
	f.mark(agent.SourceLog, "log:quiet", "nothing was logged or printed for "+f.o.IdleGrace.String())
	f.finish(true)
}
