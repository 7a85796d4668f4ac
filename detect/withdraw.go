package detect

import "berth/agent"

// withdraw: the source takes back what it said of its state, or the program has
// gone that said it. What rests on that word alone is over; who else says
// something is heard from now on.
func (f *Fold) withdraw(s agent.Source, cause, evidence string) {
	m := &f.m
	if m.Levels[s] == nil {
		return
	}
	delete(m.Levels, s)
	f.drop("gone", why{Tier: s.Tier(), Cause: cause, Evidence: evidence}, false, func(r *request) bool { return r.By == s && !r.Seen })
	if list := f.heard(); len(list) > 0 {
		for _, l := range list {
			l.Since = f.now
		}
		return
	}
	f.mark(s, cause, evidence)
	if m.Turn.Phase != "" {
		f.finish(true)
	}
	if !f.may(agent.MoveReady, agent.SourceScreen) {
		m.Ready, m.Failure = false, nil
	}
}

// succeeds: another program has the terminal. What the one before said of itself
// it said before the last look that still found it there; what was said since
// then may be the next one's.
func (f *Fold) succeeds(before *level, fact *agent.Fact) {
	if f.asleep {
		return
	}
	for _, s := range levelSources {
		if l := f.m.Levels[s]; l != nil && s != agent.SourceProcess && !l.Spoke.After(before.Spoke) {
			f.withdraw(s, fact.Cause, fact.Evidence)
		}
	}
}

// outlived is the rule for a program that ended between two looks, and has left
// the word that it works or asks: a shell has the terminal back, and everything
// was silent. A shell's own word that it runs something, said while it had the
// terminal, is no such.
func (f *Fold) outlived() {
	m := &f.m
	p := m.Levels[agent.SourceProcess]
	if p == nil || p.Value != agent.LevelIdle || !f.may(agent.MoveRest, agent.SourceProcess) {
		return
	}
	for _, s := range levelSources {
		l := m.Levels[s]
		if l == nil || s == agent.SourceProcess || l.Value != agent.LevelBusy && l.Value != agent.LevelWaiting {
			continue
		}
		if s != agent.SourceHook && !p.Since.After(l.Spoke) {
			continue
		}
		if f.due(agent.MoveRest, agent.SourceProcess, latest(p.Since, l.Spoke, m.Changed), silence) {
			f.withdraw(s, p.Cause, "nothing was said or printed for "+silence.String())
		}
	}
}

// dark says that nobody can tell what the program does.
func (f *Fold) dark() bool {
	p := f.m.Levels[agent.SourceProcess]
	return p != nil && p.Value == agent.LevelUnknown
}
