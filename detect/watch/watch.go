// Package watch tells of changes of single files: one watcher of the system's
// for all of a server, for each costs the user one of a small number (128 inotify
// instances by default on Linux).
//
// It says that something changed, never what: whoever listens looks. Notes can
// be lost, and network file systems send none, so a look now and then stays
// necessary.
package watch

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// Watcher rings bells. Its methods may be called from any goroutine.
type Watcher struct {
	system *fsnotify.Watcher
	lost   chan struct{} // holds one: the system's queue was full
	ends   sync.WaitGroup

	mu    sync.Mutex
	bells map[string]map[*Subscription]struct{} // by path
	dirs  map[string]int                        // folders that are watched, and for how many subscriptions
}

// Subscription is somebody's interest in a file.
type Subscription struct {
	w    *Watcher
	path string
	bell chan<- struct{}
	dead bool // the folder is watched no more; guarded by w.mu
	off  bool // stopped; likewise
}

// New starts a watcher.
func New() (*Watcher, error) {
	system, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch files: %w", err)
	}
	w := &Watcher{
		system: system, lost: make(chan struct{}, 1),
		bells: map[string]map[*Subscription]struct{}{}, dirs: map[string]int{},
	}
	w.ends.Go(w.run)
	w.ends.Go(w.failures)
	return w, nil
}

// Close ends the watcher; no bell rings afterwards.
func (w *Watcher) Close() error {
	err := w.system.Close()
	w.ends.Wait()
	return err
}

// Watch rings the bell, which holds one signal, whenever the file at path is
// made, written, replaced or removed. Its folder must be there, or the error is
// fs.ErrNotExist: it is the folder that is watched, since a file that is replaced
// is another one.
func (w *Watcher) Watch(path string, bell chan<- struct{}) (*Subscription, error) {
	path = filepath.Clean(path)
	dir := filepath.Dir(path)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dirs[dir] == 0 {
		if err := w.system.Add(dir); err != nil {
			return nil, fmt.Errorf("watch %s: %w", dir, err)
		}
	}
	w.dirs[dir]++
	s := &Subscription{w: w, path: path, bell: bell}
	if w.bells[path] == nil {
		w.bells[path] = map[*Subscription]struct{}{}
	}
	w.bells[path][s] = struct{}{}
	return s, nil
}

// Live says whether the bell still rings: it does not once the folder was
// removed or moved.
func (s *Subscription) Live() bool {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	return !s.dead && !s.off
}

// Stop ends the interest. It may be called again, and on nil.
func (s *Subscription) Stop() {
	if s == nil {
		return
	}
	w := s.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.off {
		return
	}
	s.off = true
	delete(w.bells[s.path], s)
	if len(w.bells[s.path]) == 0 {
		delete(w.bells, s.path)
	}
	if s.dead {
		return
	}
	dir := filepath.Dir(s.path)
	if w.dirs[dir]--; w.dirs[dir] == 0 {
		delete(w.dirs, dir)
		_ = w.system.Remove(dir) // it may have gone by itself
	}
}

// run passes notes on until the watcher is closed.
func (w *Watcher) run() {
	for {
		select {
		case e, ok := <-w.system.Events:
			if !ok {
				return
			}
			w.note(e)
		case <-w.lost:
			w.ringAll()
		}
	}
}

// failures takes the errors away, without a lock: the system's watcher may wait
// for that while it holds one that Watch and Stop wait for.
func (w *Watcher) failures() {
	for err := range w.system.Errors {
		if errors.Is(err, fsnotify.ErrEventOverflow) {
			select {
			case w.lost <- struct{}{}:
			default: // one signal is enough
			}
		}
	}
}

func (w *Watcher) note(e fsnotify.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for s := range w.bells[e.Name] {
		s.ring()
	}
	if e.Has(fsnotify.Remove|fsnotify.Rename) && w.dirs[e.Name] > 0 {
		w.lose(e.Name)
	}
}

// lose: a folder is gone, and with it the system's watch of it.
func (w *Watcher) lose(dir string) {
	delete(w.dirs, dir)
	_ = w.system.Remove(dir) // one that was only moved would tell by a wrong name
	for path, list := range w.bells {
		if filepath.Dir(path) != dir {
			continue
		}
		for s := range list {
			s.dead = true
			s.ring()
		}
	}
}

// ringAll: notes were lost, and nobody knows which.
func (w *Watcher) ringAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, list := range w.bells {
		for s := range list {
			s.ring()
		}
	}
}

func (s *Subscription) ring() {
	select {
	case s.bell <- struct{}{}:
	default: // one signal is enough
	}
}
