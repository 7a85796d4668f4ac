package sessions

import (
	"context"
	"sync"

	"berth/sessions/account"
)

const (
	// looksAtOnce bounds how many folders git reads at once for sessions of one OS user: after a start of the server all
	// sessions are due.
	looksAtOnce = 2
	// foldersAtOnce bounds the questions of one caller about folders of one OS user that wait for a file system.
	foldersAtOnce = 8
)

// ownUID is the key of what runs as the server's user.
const ownUID = -1

func uidOf(user *account.User) int {
	if user == nil {
		return ownUID
	}
	return user.UID
}

// folderAsker is a caller who asks about folders, and the OS user whose rights it looks with. A file system that doesn't
// answer takes slots of these two alone.
type folderAsker struct {
	caller string
	uid    int
}

// slots bound how much is under way at once for each key, such as a uid: what takes long for one holds up no other.
// The zero value is ready to use.
type slots[K comparable] struct {
	mu sync.Mutex
	of map[K]*share
}

type share struct {
	taken chan struct{}
	users int // that have a slot or wait for one
}

// enter waits for one of the key's slots, which are most. The caller calls leave at the end.
func (s *slots[K]) enter(ctx context.Context, key K, most int) (leave func(), err error) {
	s.mu.Lock()
	if s.of == nil {
		s.of = map[K]*share{}
	}
	one := s.of[key]
	if one == nil {
		one = &share{taken: make(chan struct{}, most)}
		s.of[key] = one
	}
	one.users++
	s.mu.Unlock()
	forget := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if one.users--; one.users == 0 {
			delete(s.of, key)
		}
	}
	select {
	case one.taken <- struct{}{}:
		return func() { <-one.taken; forget() }, nil
	case <-ctx.Done():
		forget()
		return nil, ctx.Err()
	}
}
