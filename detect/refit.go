package detect

import (
	"time"

	"berth/agent"
)

// Refit goes on with another driver of the same agent, whose screen is to be
// read anew. What was only seen by the old one is forgotten; what the program
// itself told, and who is in the foreground, stays.
func (f *Fold) Refit(d agent.Driver, now time.Time) Result {
	f.begin(now)
	m := &f.m
	f.driver, f.table = d, d.Table()
	f.drop("gone", why{Tier: agent.TierScreen, Cause: "rules:changed"}, false, func(r *request) bool { return !r.Told })
	for _, r := range m.Requests {
		r.Prompt.OnScreen, r.Seen = false, false
	}
	m.Screen = screen{}
	if len(f.heard()) == 0 {
		f.mark(agent.SourceScreen, "rules:changed", "")
		if m.Turn.Phase != "" {
			f.finish(true)
		}
		m.Ready, m.Failure = false, nil
	}
	f.settle()
	f.conclude()
	return f.result
}
