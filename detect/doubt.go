package detect

import (
	"cmp"
	"slices"
	"time"

	"berth/agent"
)

const (
	// mostLag is how long two sources may disagree about a turn's end before one of them must be
	// wrong. The longest measured lag is 657 ms, on a machine with 16 times the work it can do.
	mostLag = 2 * time.Second
	// trustedAfter is how many turns' ends in a row the other sources must confirm before a doubted
	// source counts at once again.
	trustedAfter = 3
)

// doubts reports whether the slow rule applies to the source.
func (f *Fold) doubts(s agent.Source) bool { return f.m.Doubts[s] != nil }

// doubt applies the slow rule to a source that another one contradicts.
func (f *Fold) doubt(s agent.Source, said why, against agent.Source, other why) {
	m := &f.m
	if _, measured := f.driver.(agent.VersionLister); !measured || s == "" || s == against {
		return // a program's reports about itself were never compared with its screen
	}
	if d := m.Doubts[s]; d != nil {
		d.Agreed = 0
		return
	}
	d := &Doubt{Source: s, Said: said.word(), Against: against, AgainstSaid: other.word(), Since: f.now}
	if m.Doubts == nil {
		m.Doubts = map[agent.Source]*Doubt{}
	}
	m.Doubts[s] = d
	f.result.Mismatches = append(f.result.Mismatches, Mismatch{Doubt: *d})
}

// word is the report in one line.
func (w why) word() string {
	if w.Evidence == "" {
		return w.Cause
	}
	return w.Cause + ": " + w.Evidence
}

func (l *level) why() why {
	return why{Tier: l.Source.Tier(), Cause: l.Cause, Evidence: cmp.Or(l.Evidence, string(l.Value))}
}

// after is how long the source must have shown the same before it causes the move. The slow rule
// takes the longest time of all sources.
func (f *Fold) after(m agent.Move, s agent.Source) time.Duration {
	d, _ := f.table.May(m, s)
	if f.doubts(s) {
		for _, w := range f.table[m] {
			d = max(d, w.After)
		}
	}
	return d
}

// agree reports whether the source may end the turn. By the slow rule all sources must show that
// the agent rests, and must have shown it for a while.
func (f *Fold) agree(s agent.Source) bool {
	if !f.doubts(s) {
		return true
	}
	since, all := f.othersRest()
	return all && f.due(agent.MoveRest, agent.SourceScreen, since, f.o.ScreenGrace)
}

// othersRest reports whether all levels and the screen show that the agent rests, and since when.
func (f *Fold) othersRest() (since time.Time, all bool) {
	m := &f.m
	since = latest(m.Turn.Ended, m.Turn.Started)
	for _, l := range m.Levels {
		switch l.Value {
		case agent.LevelWaiting:
			return since, false
		case agent.LevelBusy:
			if !f.silent(l) {
				return since, false
			}
		}
		since = latest(since, l.Since)
	}
	if r := m.Screen.Reading; r != nil && (r.Composer != nil || r.Dialog != nil || r.Busy != "") {
		if m.Screen.Bare.IsZero() {
			return since, false
		}
		since = latest(since, m.Screen.Bare)
	}
	return since, true
}

// contradicted finds two sources that contradict each other about a turn's end: one reported the
// end, and another still shows work.
func (f *Fold) contradicted() {
	m := &f.m
	switch m.Turn.Phase {
	case ending:
		// While a stop hook or a subagent runs both are right, and a level lags after its end too.
		if f.worksOn() {
			m.Turn.WorksOn = true
			return
		}
		if m.Turn.WorksOn {
			m.Turn.WorksOn, m.Turn.Alone = false, f.now
		}
		l := f.level()
		if l == nil || l.Value != agent.LevelBusy || l.Since.After(m.Turn.Ended) {
			return
		}
		if f.lags(latest(m.Turn.Ended, m.Turn.Alone)) {
			f.doubt(m.Turn.By, m.Turn.Why, l.Source, l.why())
		}
	case "":
		ended := latest(m.EndedAt, m.AloneAt)
		for _, l := range f.counted() {
			if l.Value == agent.LevelBusy && !l.Since.After(ended) && l.Spoke.Sub(ended) > mostLag {
				f.doubt(m.EndedBy, m.EndedWhy, l.Source, l.why())
			}
		}
	}
}

// worksOn reports whether something may keep the agent busy after the turn's end: the gate, a
// subagent in the background, a hook that the screen shows, or a dialog about the turn.
func (f *Fold) worksOn() bool {
	m := &f.m
	return m.Gate || len(m.Background) > 0 || !m.Screen.Hook.IsZero() || f.afterwards()
}

// lags reports whether mostLag has passed. If not, the fold asks for a Tick at that time.
func (f *Fold) lags(since time.Time) bool {
	at := since.Add(mostLag)
	if !at.After(f.now) {
		return true
	}
	if f.next.IsZero() || at.Before(f.next) {
		f.next = at
	}
	return false
}

// wentOn continues the last turn when one of its tools starts long after its reported end: the
// report was wrong.
func (f *Fold) wentOn(fact *agent.Fact) {
	m := &f.m
	if fact.Agent != "" || !m.endedLast(fact.Turn) {
		return
	}
	if f.when(fact).Sub(m.EndedAt) < mostLag || !f.may(agent.MoveWork, fact.Source) {
		return
	}
	f.doubt(m.EndedBy, m.EndedWhy, fact.Source, why{Cause: fact.Cause, Evidence: fact.Tool})
	m.Ended = m.Ended[:len(m.Ended)-1]
	f.start(fact.Turn, fact.Source, fact.Cause, fact.Evidence)
}

// trust counts a turn's end, at this moment, for the doubted sources that were right about it. It
// ends the doubt of a source that was right trustedAfter times in a row.
func (f *Fold) trust() {
	m := &f.m
	if len(m.Doubts) == 0 {
		return
	}
	since, all := f.othersRest()
	agreed := all && (m.Turn.Ended.IsZero() || m.Turn.WorksOn || since.Sub(latest(m.Turn.Ended, m.Turn.Alone)) < mostLag)
	for _, d := range f.doubted() {
		l := m.Levels[d.Source]
		if d.Source != m.Turn.By && l == nil {
			continue // it reported nothing about this turn
		}
		kept := m.Doubts[d.Source]
		if kept.Agreed++; !agreed || l != nil && l.Value == agent.LevelBusy {
			kept.Agreed = 0
		}
		if kept.Agreed >= trustedAfter {
			delete(m.Doubts, d.Source)
			f.result.Mismatches = append(f.result.Mismatches, Mismatch{Doubt: *kept, Over: true})
		}
	}
}

// doubted returns copies of the doubts, the most reliable source first.
func (f *Fold) doubted() []Doubt {
	var list []Doubt
	for _, d := range f.m.Doubts {
		list = append(list, *d)
	}
	slices.SortFunc(list, func(a, b Doubt) int {
		return cmp.Or(cmp.Compare(a.Source.Tier(), b.Source.Tier()), cmp.Compare(a.Source, b.Source))
	})
	return list
}
