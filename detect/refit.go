package detect

import (
	"time"

	"berth/agent"
)

// Refit continues with another driver of the same agent, after its rules changed; the caller then
// reads the screen again. It forgets what the old driver only saw on the screen. The program's own
// reports, and the foreground process, stay.
func (f *Fold) Refit(d agent.Driver, now time.Time) Result {
	f.begin(now)
	m := &f.m
	f.driver, f.table = d, d.Table()
	f.drop("gone", why{Tier: agent.TierScreen, Cause: "rules:changed"}, false, func(r *request) bool { return !r.Told })
	for _, r := range m.Requests {
		r.Prompt.OnScreen, r.Seen = false, false
	}
	m.Screen = screen{}
	if len(f.counted()) == 0 {
		f.mark(agent.SourceScreen, "rules:changed", "")
		if m.Turn.Phase != "" {
			f.finish(true)
		}
		m.Ready, m.Reported, m.Failure = false, readiness{}, nil
	}
	f.settle()
	f.conclude()
	return f.result
}
