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
		r.Taken, f.m.Why = time.Time{}, why{Tier: agent.TierScreen, Cause: "screen:dialog"} // a report of its end can be forged
		f.m.Requests = slices.DeleteFunc(slices.Clone(f.m.Requests), func(other *request) bool { return other == r })
		f.close(r, "superseded", f.m.Why, false)
	}
}
