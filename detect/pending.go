package detect

import (
	"slices"
	"time"

	"berth/agent"
)

// Pending is a prompt that waits for its answer.
type Pending struct {
	Request *agent.Request // a copy
	Hook    string         // id of the hook that waits; empty without one
	Dialog  *agent.Dialog  // on the screen; nil if it belongs to another prompt
	Told    bool           // by the agent itself; otherwise only seen
	Whole   bool           // its dialog shows all that it asks, and nothing else
	Alike   bool           // a key was pressed; the dialog may be another one that looks the same
	Over    bool           // it was just reported as over, or its hook passed an answer to the agent, and its dialog is still on the screen
	// Disputed: the dialog may be another prompt's. It is Contested as well, unless a hook waits.
	Disputed bool
	Drawn    []string  // the lines of the dialog on the screen, of any prompt
	Shown    time.Time // since when its dialog is on the screen; zero when it isn't
	Waits    bool      // a level has reported an open dialog since the last prompt was closed
	Busy     bool      // a level still shows work
	GivesWay bool      // the dialog of an earlier one of parallel calls may take its place
	Next     string    // the id of a reported prompt whose dialog comes when this one, a form, goes; empty for none
	Before   string    // its digest before a hook reported what its dialog shows; empty without one
}

// Pending finds the prompt with that id. An empty id is the prompt on the screen, or else the first
// one.
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
	p := Pending{Request: found.Prompt.Clone(), Hook: found.Hook, Told: found.Told, Alike: !found.Typed.IsZero(), Over: found.Over != nil && !found.Over.Denied || found.spent(), Disputed: f.disputed(found)}
	if found.Joined[1] == found.Prompt.Digest {
		p.Before = found.Joined[0]
	}
	d := f.dialog()
	if d != nil {
		p.Drawn = d.Lines
	}
	if found.Prompt.OnScreen {
		p.Dialog, p.Shown = d, f.m.Screen.Shown
		p.Whole = d != nil && f.shows(d, found) == agent.WholeMatch
		l := f.waits()
		p.Waits = l != nil && l.Since.After(f.m.ClosedAt)
		l = f.level()
		p.Busy = l != nil && l.Value == agent.LevelBusy
		p.GivesWay = f.givesWay(d)
	}
	if found.Prompt.Type == agent.PromptForm {
		waits := func(r *request) bool { return r != found && r.Told && r.Over == nil && !r.Prompt.OnScreen }
		if i := slices.IndexFunc(f.m.Requests, waits); i >= 0 {
			p.Next = f.m.Requests[i].Prompt.ID
		}
	}
	return p, true
}

// StoppedSince reports whether a turn has ended since then before its work was done, as after a
// denial.
func (f *Fold) StoppedSince(at time.Time) bool { return f.m.StoppedAt.After(at) }

// Leaves is what the fold leaves now. A process of the session can bring another
// program to the foreground for a moment, and draw over the dialog before the agent is back.
func (f *Fold) Leaves() (left Left) {
	m := &f.m
	switch {
	case f.dialog() != nil:
		left.Covered = f.now
	case !f.Covered():
		return Left{}
	default:
		left.Covered = latest(m.Before, f.Looked())
	}
	left.under = slices.Clone(m.Under)
	if n := m.Face; n.Key != "" {
		n.Gone = f.now
		left.under = append(left.under, n)
	}
	for i := range left.under {
		left.under[i].ID = "" // this fold's
	}
	for _, r := range m.Lost {
		if left.Covered = latest(left.Covered, r.Opened); r.isUnder() {
			left.under = append(left.under, anyFace(r.Opened))
		}
	}
	return left
}
