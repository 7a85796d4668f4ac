package detect

import "berth/agent"

// Pending is a prompt that waits for its answer.
type Pending struct {
	Request *agent.Request // a copy
	Hook    string         // id of the hook that waits, empty when none does
	Dialog  *agent.Dialog  // on the screen, nil when it is not this prompt's
	Told    bool           // by the agent itself, and not only seen
}

// Pending finds the prompt with that id; empty: the one on the screen, else
// the first.
func (f *Fold) Pending(id string) (Pending, bool) {
	found := f.current()
	if id != "" {
		found = nil
		for _, r := range f.m.Requests {
			if r.Prompt.ID == id {
				found = r
			}
		}
	}
	if found == nil {
		return Pending{}, false
	}
	p := Pending{Request: found.Prompt.Clone(), Hook: found.Hook, Told: found.Told}
	if found.Prompt.OnScreen {
		p.Dialog = f.dialog()
	}
	return p, true
}

// Holds says whether a prompt is open that the hook waits for.
func (f *Fold) Holds(hook string) bool {
	for _, r := range f.m.Requests {
		if r.Hook == hook {
			return true
		}
	}
	return false
}
