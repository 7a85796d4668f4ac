package detect

import "berth/agent"

// withdraw removes a source's level: the source took its report back, or its program is gone. What
// only that report supports is over; from now on the other sources count.
func (f *Fold) withdraw(s agent.Source, cause, evidence string) {
	m := &f.m
	if m.Levels[s] == nil {
		return
	}
	delete(m.Levels, s)
	f.drop("gone", why{Tier: s.Tier(), Cause: cause, Evidence: evidence}, false, func(r *request) bool { return r.By == s && !r.Seen })
	if list := f.counted(); len(list) > 0 {
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
		m.Ready, m.Reported, m.Failure = false, readiness{}, nil
	}
}

// succeeds handles another program in the foreground. It withdraws the old program's reports: those
// from before the last time when it was still found there. Later reports may be the new program's.
func (f *Fold) succeeds(before *level, fact *agent.Fact) {
	if f.frozen {
		return
	}
	for _, s := range levelSources {
		if l := f.m.Levels[s]; l != nil && s != agent.SourceProcess && !l.Spoke.After(before.Spoke) {
			f.withdraw(s, fact.Cause, fact.Evidence)
		}
	}
}

// outlived withdraws the report of a program that ended unnoticed and had said that it works or
// asks: a shell has the terminal back, and everything was silent. A report that came while the
// shell had the terminal is the shell's own, and stays.
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

// dark reports whether no source can show what the program does.
func (f *Fold) dark() bool {
	p := f.m.Levels[agent.SourceProcess]
	return p != nil && p.Value == agent.LevelUnknown
}
