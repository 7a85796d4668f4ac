package sessions

import (
	"context"
	"testing"
	"time"

	"berth/agent"
	"berth/sessions/track"
	"berth/sessions/worktree"
)

// TestSlowLooksAreRare: an agent's git filter makes a look take long. The next one comes after a multiple of that.
func TestSlowLooksAreRare(t *testing.T) {
	now := time.Unix(1e9, 0)
	view := track.View{Now: agent.Idle, Since: now}
	var work []func(context.Context)
	f := folder{env: folderEnv{
		View: func() track.View { return view }, Ended: func() bool { return false },
		Look:       func(context.Context) (*worktree.Look, time.Duration) { return nil, 20 * time.Second },
		Background: func(w func(context.Context)) { work = append(work, w) },
		Do:         func(_ context.Context, fn func()) error { fn(); return nil },
		Changed:    func() {},
	}}
	f.Tick(now)
	if len(work) != 1 {
		t.Fatalf("%d looks", len(work))
	}
	work[0](t.Context())
	view.Since = now.Add(time.Second) // it rests again
	if got, want := f.Tick(now.Add(time.Minute)), now.Add(200*time.Second); !got.Equal(want) {
		t.Errorf("the next look is at %s, want %s", got, want)
	}
	if f.Tick(now.Add(201 * time.Second)); len(work) != 2 {
		t.Errorf("%d looks", len(work))
	}
}
