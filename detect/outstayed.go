package detect

import (
	"slices"
	"time"

	"berth/agent"
)

// outstayed closes the prompts whose hooks passed an answer to the agent, if their dialogs stay. That answer was for one call, and the
// dialog may be another's that is drawn alike, and whose report got lost. So the dialog becomes a prompt of its own.
func (f *Fold) outstayed() {
	for _, r := range f.m.Requests {
		if r.Taken.IsZero() || !r.spent() || !r.Prompt.OnScreen || !f.due(agent.MoveAsk, agent.SourceScreen, r.Taken, takenHolds) {
			continue
		}
		o := over{How: "superseded", Why: why{Tier: agent.TierScreen, Cause: "screen:dialog"}}
		if r.Over != nil {
			o = *r.Over
		}
		r.Taken, f.m.Why = time.Time{}, o.Why // the dialog has stayed for long enough
		f.m.Requests = slices.DeleteFunc(slices.Clone(f.m.Requests), func(other *request) bool { return other == r })
		f.close(r, o.How, o.Why, o.Stopped)
	}
}
