package sessions

import (
	"context"
	"encoding/json"
	"time"

	"berth/agent"
	"berth/sessions/events"
	"berth/sessions/hold"
	"berth/sessions/loop"
	"berth/sessions/track"
	"berth/sessions/worktree"
)

// folderEvery is the least time between two looks at a session's folder: a shell rests
// after each command.
const folderEvery = 2 * time.Second

// lookRest is how long a folder isn't looked at again, as a multiple of the time that git took: an agent can have git
// run programs of its own (filters), and all sessions of an OS user share looksAtOnce.
const lookRest = 10

// rests says whether nothing changes in the folder by the agent for now.
func rests(state agent.State) bool {
	switch state {
	case agent.Working, agent.Starting, agent.Restarting:
		return false
	}
	return true
}

// folder is the part that knows what git says of the session's folder. It is read when the
// agent rests: while it works the number would be old at once, and reading it costs a process.
type folder struct {
	env     folderEnv
	looking bool
	looked  time.Time     // when the last look began
	took    time.Duration // how long git took for it
	rested  time.Time     // since when the agent rested that was looked at
	last    *worktree.Look
}

// folderEnv is what it uses of the session. Look takes time, so Background calls it.
type folderEnv struct {
	View       func() track.View
	Ended      func() bool
	Look       func(context.Context) (look *worktree.Look, took time.Duration)
	Background func(work func(context.Context))
	Do         func(ctx context.Context, fn func()) error
	Changed    func()
}

// Begin, End and Recall have nothing to do: the state says when the agent rests.
func (f *folder) Begin(time.Time)    {}
func (f *folder) End()               {}
func (f *folder) Recall(events.Line) {}

// Record takes in nothing.
func (f *folder) Record(hold.Record) (none loop.Outcome, err error) { return none, nil }

// Save has nothing: the next server looks again.
func (f *folder) Save() (json.RawMessage, error) { return json.RawMessage("{}"), nil }

// Restore has nothing to take in.
func (f *folder) Restore(json.RawMessage, bool) error { return nil }

// Tick begins a look that is due, and gives when one will be.
func (f *folder) Tick(now time.Time) time.Time {
	due := f.due()
	if due.IsZero() || now.Before(due) {
		return due
	}
	f.looking, f.looked, f.rested = true, now, f.env.View().Since
	f.env.Background(func(ctx context.Context) {
		look, took := f.env.Look(ctx)
		_ = f.env.Do(context.WithoutCancel(ctx), func() { // a loop that has ended shows nothing
			f.looking, f.took = false, took
			if was := f.last; (was == nil) != (look == nil) || was != nil && *was != *look {
				f.last = look
				f.env.Changed()
			}
		})
	})
	return time.Time{}
}

// due is when the folder is to be looked at next; zero: not before the agent rests again.
// Sessions that had ended before the server started aren't looked at: there may be many.
func (f *folder) due() time.Time {
	view := f.env.View()
	found := f.env.Ended() && f.looked.IsZero()
	if found || f.looking || !rests(view.Now) || view.Since.Equal(f.rested) {
		return time.Time{}
	}
	if at := f.looked.Add(max(folderEvery, lookRest*f.took)); at.After(view.Since) {
		return at
	}
	return view.Since
}
