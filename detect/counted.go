package detect

import (
	"slices"

	"berth/agent"
)

// levelSources are the sources that always show a state, the plainest first.
var levelSources = []agent.Source{
	agent.SourceHook, agent.SourceRegistry, agent.SourceOSC, agent.SourceTitle, agent.SourceProgress, agent.SourceProcess,
}

// rank orders them: a source counts only if none of a lower rank has a value.
func rank(s agent.Source) int {
	switch s {
	case agent.SourceProgress:
		return 2
	case agent.SourceProcess:
		return 3
	}
	return 1
}

// counted returns the levels that count, the plainest first.
func (f *Fold) counted() []*level {
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

// startsUp reports whether the level shows only the program's start as work: there was no turn yet,
// and another source says idle.
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

// level is the level that changed last.
func (f *Fold) level() *level {
	var best *level
	for _, l := range f.counted() {
		if best == nil || l.Since.After(best.Since) {
			best = l
		}
	}
	return best
}

// Stirs reports whether a level shows work, but not for long enough to start a turn.
func (f *Fold) Stirs() bool {
	m := &f.m
	l := f.level()
	return m.Turn.Phase == "" && l != nil && l.Value == agent.LevelBusy && l.Since.After(m.EndedAt) && f.may(agent.MoveWork, l.Source)
}

// waits returns a level that says that a dialog is open, unless another has said otherwise since.
// "Not busy" doesn't contradict it.
func (f *Fold) waits() *level { return f.holds(agent.LevelWaiting, agent.LevelIdle) }

// idles returns a level that says that the agent is at its composer, unless another has said
// otherwise since. "Not busy" doesn't contradict it.
func (f *Fold) idles() *level { return f.holds(agent.LevelIdle, agent.LevelWaiting) }

// holds returns a level with the value, unless another one has changed to busy or to other since.
func (f *Fold) holds(value, other agent.Level) *level {
	list := f.counted()
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

// silent reports whether a busy level no longer counts: it hasn't been repeated for a while,
// everything else is still, and the screen shows the composer.
func (f *Fold) silent(l *level) bool {
	m := &f.m
	if m.Screen.Bare.IsZero() {
		return false
	}
	return f.due(agent.MoveRest, agent.SourceScreen, latest(l.Spoke, m.Screen.Bare, m.Screen.Changed, m.Changed), silence)
}
