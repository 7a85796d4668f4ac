package loop

import "sync"

// Ring puts a signal into a channel that holds one.
func Ring(bell chan struct{}) {
	select {
	case bell <- struct{}{}:
	default: // one signal is enough
	}
}

// Bells are latest-wins signals to any number of listeners. The zero value is ready to use.
type Bells struct {
	mu   sync.Mutex
	list map[chan struct{}]struct{}
}

// Add gives a channel. It holds one signal if Ring was called since the caller last received from
// it. stop removes the listener.
func (b *Bells) Add() (signal <-chan struct{}, stop func()) {
	bell := make(chan struct{}, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.list == nil {
		b.list = map[chan struct{}]struct{}{}
	}
	b.list[bell] = struct{}{}
	return bell, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.list, bell)
	}
}

// Any reports whether there are listeners.
func (b *Bells) Any() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.list) > 0
}

// Ring signals all.
func (b *Bells) Ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for bell := range b.list {
		Ring(bell)
	}
}
