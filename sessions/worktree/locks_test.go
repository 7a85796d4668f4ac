package worktree

import (
	"context"
	"errors"
	"testing"
)

// A removal waits for one in its own repository alone, and no longer than its caller.
func TestLocks(t *testing.T) {
	var locks Locks
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	one, err := locks.Lock(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	other, err := locks.Lock(t.Context(), "b")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := locks.Lock(canceled, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("a is taken: %v", err)
	}
	waits := make(chan func())
	go func() {
		unlock, err := locks.Lock(t.Context(), "a")
		if err != nil {
			t.Error(err)
		}
		waits <- unlock
	}()
	one()
	(<-waits)()
	other()
	if len(locks.of) > 0 {
		t.Errorf("%d locks are left", len(locks.of))
	}
}
