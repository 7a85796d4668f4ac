package worktree

import (
	"context"
	"sync"
)

// Locks serializes the removals of one repository's worktrees. Those of other repositories don't wait: git may run
// programs of an agent's (filters), and they may take as long as a removal may. The zero value is ready.
type Locks struct {
	mu sync.Mutex
	of map[string]*lock // by repository
}

type lock struct {
	free  chan struct{} // holds one while the lock isn't taken
	users int           // that have it or wait for it
}

// Lock waits until the repository is the caller's.
func (l *Locks) Lock(ctx context.Context, repo string) (unlock func(), err error) {
	l.mu.Lock()
	if l.of == nil {
		l.of = map[string]*lock{}
	}
	one := l.of[repo]
	if one == nil {
		one = &lock{free: make(chan struct{}, 1)}
		one.free <- struct{}{}
		l.of[repo] = one
	}
	one.users++
	l.mu.Unlock()
	leave := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if one.users--; one.users == 0 {
			delete(l.of, repo)
		}
	}
	select {
	case <-one.free:
		return func() { one.free <- struct{}{}; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
