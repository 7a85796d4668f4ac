package detect

import (
	"slices"

	"berth/agent"
)

// levelSources are those that always show a state, the plainest first.
var levelSources = []agent.Source{
	agent.SourceHook, agent.SourceRegistry, agent.SourceOSC, agent.SourceTitle, agent.SourceProgress, agent.SourceProcess,
}

// rank orders them: one is heard only where none of a lower rank says anything.
func rank(s agent.Source) int {
	switch s {
	case agent.SourceProgress:
		return 2
	case agent.SourceProcess:
		return 3
	}
	return 1
}

// heard are the levels that count, the plainest first.
func (f *Fold) heard() []*level {
	var list []*level
	for _, s := range levelSources {
		l := f.m.Levels[s]
		if l == nil || l.Value == agent.LevelUnknown || f.startsUp(l) || len(list) > 0 && rank(s) > rank(list[0].Source) {
			continue
		}
		list = append(list, l)
	}
	return list
}

// startsUp says that what the level shows as work is only the program's start: there was
// no turn yet, and another source says that it is idle.
func (f *Fold) startsUp(l *level) bool {
	m := &f.m
	if l.Value != agent.LevelBusy || m.Turn.Phase != "" || m.EndedAt.After(f.o.Start) {
		return false
	}
	w, _ := f.table.Witness(agent.MoveWork, l.Source)
	return w.NotFirst && slices.ContainsFunc(levelSources, func(s agent.Source) bool {
		o := m.Levels[s]
		return o != nil && o.Value == agent.LevelIdle
	})
}

// level is the word of the source that spoke last.
func (f *Fold) level() *level {
	var best *level
	for _, l := range f.heard() {
		if best == nil || l.Since.After(best.Since) {
			best = l
		}
	}
	return best
}

// Stirs says that a source which shows a state shows work, and has not done so
// for long enough to be believed.
func (f *Fold) Stirs() bool {
	m := &f.m
	l := f.level()
	return m.Turn.Phase == "" && l != nil && l.Value == agent.LevelBusy && l.Since.After(m.EndedAt) && f.may(agent.MoveWork, l.Source)
}

// waits is a source that says that a dialog is open, with none that has said
// otherwise since. "Not busy" is not otherwise.
func (f *Fold) waits() *level { return f.holds(agent.LevelWaiting, agent.LevelIdle) }

// idles is a source that says that the agent is at its composer, in the same
// way. "Not busy" is what another says of the same.
func (f *Fold) idles() *level { return f.holds(agent.LevelIdle, agent.LevelWaiting) }

// holds is a source that shows the value, when none has shown that it is busy
// or the other value since.
func (f *Fold) holds(value, other agent.Level) *level {
	list := f.heard()
	for _, l := range list {
		if l.Value != value {
			continue
		}
		undone := false
		for _, o := range list {
			undone = undone || (o.Value == agent.LevelBusy || o.Value == other) && o.Since.After(l.Since)
		}
		if !undone {
			return l
		}
	}
	return nil
}

// silent says whether a level that says busy has not said it for so long, with
// everything else still and the composer on the screen, that it is not
// believed any more.
func (f *Fold) silent(l *level) bool {
	m := &f.m
	if m.Screen.Bare.IsZero() {
		return false
	}
	return f.due(agent.MoveRest, agent.SourceScreen, latest(l.Spoke, m.Screen.Bare, m.Screen.Changed, m.Changed), silence)
}
