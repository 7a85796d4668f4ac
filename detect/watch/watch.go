// Package watch reports changes of single files. A server has one Watcher for all sessions, because
// each one costs the user an inotify instance (128 by default on Linux).
//
// A bell says that something changed, not what: its owner then reads the file. Notifications can be
// lost, and network file systems send none, so owners also look now and then.
package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Watcher rings bells. Any goroutine may call its methods.
type Watcher struct {
	system *fsnotify.Watcher
	lost   chan struct{} // holds one signal: the system's queue overflowed
	ends   sync.WaitGroup
	calls  chan struct{} // held while the system is asked to watch a folder, or not to
	slow   atomic.Bool   // the one who holds it has waited for addWithin

	mu       sync.Mutex
	bells    map[string]map[*Subscription]struct{} // by path
	dirs     map[string]int                        // watched folders, and the number of subscriptions for each
	adding   map[string]*adding                    // folders that are about to be watched
	unwanted map[string]bool                       // folders that the system may still watch
}

// adding is a folder that is about to be watched.
type adding struct {
	calls int  // of Watch
	lost  bool // it was removed or moved meanwhile
}

// addWithin is how long the system may take to watch a folder. One on a file system that the agent's user serves may
// never answer. fsnotify has a lock for all folders, so no folder is added then, and owners look now and then.
const addWithin = 200 * time.Millisecond

var errSlow = errors.New("a folder doesn't answer")

// Subscription is a caller's interest in a file.
type Subscription struct {
	w    *Watcher
	path string
	bell chan<- struct{}
	dead bool // the folder is no longer watched; guarded by w.mu
	off  bool // stopped; guarded by w.mu
}

// New starts a watcher.
func New() (*Watcher, error) {
	system, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch files: %w", err)
	}
	w := &Watcher{
		system: system, lost: make(chan struct{}, 1),
		bells: map[string]map[*Subscription]struct{}{}, dirs: map[string]int{}, adding: map[string]*adding{}, unwanted: map[string]bool{}, calls: make(chan struct{}, 1),
	}
	w.ends.Go(w.run)
	w.ends.Go(w.failures)
	return w, nil
}

// Close ends the watcher. No bell rings after it returns. An error may leave it as it was.
func (w *Watcher) Close() error {
	select {
	case w.calls <- struct{}{}: // and no folder is added any more
	case <-time.After(addWithin):
		return fmt.Errorf("end the watch of files: %w", errSlow)
	}
	err := w.system.Close()
	w.ends.Wait()
	return err
}

// Watch rings the bell, which holds one signal, whenever the file at path is created, written,
// replaced or removed. Its folder must exist, otherwise the error is fs.ErrNotExist: Watch watches
// the folder, because a replaced file is another file.
func (w *Watcher) Watch(path string, bell chan<- struct{}) (*Subscription, error) {
	path = filepath.Clean(path)
	dir := filepath.Dir(path)
	// A folder that doesn't answer holds up its caller alone: all share the locks of what follows.
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("watch %s: %w", dir, err)
	}
	if err := w.add(dir); err != nil {
		return nil, fmt.Errorf("watch %s: %w", dir, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.added(dir) {
		w.drop(dir)
		return nil, fmt.Errorf("watch %s: %w", dir, fs.ErrNotExist)
	}
	w.dirs[dir]++
	s := &Subscription{w: w, path: path, bell: bell}
	if w.bells[path] == nil {
		w.bells[path] = map[*Subscription]struct{}{}
	}
	w.bells[path][s] = struct{}{}
	return s, nil
}

// add has the system watch a folder, and counts it in w.adding until added. After an error it doesn't.
func (w *Watcher) add(dir string) error {
	w.mu.Lock()
	if w.adding[dir] == nil {
		w.adding[dir] = &adding{}
	}
	w.adding[dir].calls++
	w.mu.Unlock()
	err := w.askSystem(dir)
	if err != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.added(dir)
		w.drop(dir)
	}
	return err
}

// added ends add, and reports whether the folder was lost meanwhile. The caller holds w.mu.
func (w *Watcher) added(dir string) (lost bool) {
	one := w.adding[dir]
	if one.calls--; one.calls == 0 {
		delete(w.adding, dir)
	}
	return one.lost
}

// askSystem has the system watch a folder, and waits for addWithin. A call that takes longer goes on.
func (w *Watcher) askSystem(dir string) error {
	late := time.NewTimer(addWithin)
	defer late.Stop()
	select {
	case w.calls <- struct{}{}:
	default:
		if w.slow.Load() {
			return errSlow
		}
		select {
		case w.calls <- struct{}{}:
		case <-late.C:
			return errSlow
		}
	}
	done := make(chan error, 1)
	go func() { // not waited for by Close: it may never end
		err := w.system.Add(dir)
		w.slow.Store(false)
		w.mu.Lock()
		w.sweep()
		w.mu.Unlock()
		<-w.calls
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-late.C:
		w.slow.Store(true)
		return errSlow
	}
}

// drop has the system watch a folder no more, unless there are subscriptions for it. The caller holds w.mu. A folder
// that is being added is swept after that.
func (w *Watcher) drop(dir string) {
	w.unwanted[dir] = true
	select {
	case w.calls <- struct{}{}:
		w.sweep()
		<-w.calls
	default:
	}
}

// sweep has the system watch unwanted folders no more. The caller holds w.mu and w.calls.
func (w *Watcher) sweep() {
	for dir := range w.unwanted {
		delete(w.unwanted, dir)
		if w.dirs[dir] == 0 && w.adding[dir] == nil {
			_ = w.system.Remove(dir) // the folder may have gone already
		}
	}
}

// Live reports whether the bell still rings. It doesn't after the folder was removed or moved.
func (s *Subscription) Live() bool {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	return !s.dead && !s.off
}

// Stop ends the subscription. It may be called again, and on nil.
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
		w.drop(dir)
	}
}

// run passes events on until the watcher is closed.
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

// failures drains the errors, without w.mu: while fsnotify waits for that, it may have a lock that
// Watch and Stop wait for.
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
	if e.Has(fsnotify.Remove | fsnotify.Rename) {
		if one := w.adding[e.Name]; one != nil {
			one.lost = true
		}
		if w.dirs[e.Name] > 0 {
			w.lose(e.Name)
		}
	}
}

// lose marks the subscriptions of a removed or moved folder as dead, and rings their bells.
func (w *Watcher) lose(dir string) {
	delete(w.dirs, dir)
	w.drop(dir) // a moved folder would still report events, with its old name
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

// ringAll rings every bell, because events were lost and could be of any file.
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
