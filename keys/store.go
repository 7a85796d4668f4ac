package keys

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// pollEvery is how often key files are checked in addition to the kernel's notifications. Network file
// systems, and changes of a parent's mode, send none.
const pollEvery = 2 * time.Second

// settle is how long after a notification the files are read. An editor may move the old file away and
// then the new one into place, and no one must be locked out in between.
const settle = 100 * time.Millisecond

// StoreOptions say where keys are read from.
type StoreOptions struct {
	Files   []string // in the authorized_keys format; a missing file is read when it appears
	Revoked string   // of revocations; empty, or a missing file, means none
	// Guests is the server's own file of guests; GuestAuthority is the key that certifies them, made with
	// the first guest. Empty means no guests.
	Guests, GuestAuthority string
	Authorize              []string         // .pub files whose keys are admins, unless their line says otherwise
	Now                    func() time.Time // nil is time.Now
	Problems               func([]Problem)  // called with all problems after each reading that changed something; may be nil
}

// Store holds the current keys of several files. Its methods may be used from any goroutine.
type Store struct {
	o StoreOptions

	editing  sync.Mutex // one change of the files at a time; taken before reading
	reading  sync.Mutex // one reading at a time, so that an older one can't replace a newer one
	mu       sync.Mutex
	set      *Set
	problems []Problem
	stamps   []string
	changed  chan struct{}
}

// OpenStore reads the files. A file with bad modes, or a bad line, is a problem and admits no key. A
// file of Authorize without a key is an error, because it was named to admit one. An empty store isn't
// an error: call Empty.
func OpenStore(o StoreOptions) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Store{o: o, changed: make(chan struct{}), stamps: stampAll(o)}
	s.set, s.problems = s.read()
	for _, file := range o.Authorize {
		set, problems := s.readOne(&Set{}, file, Admin)
		if set.Empty() {
			_, err := os.Stat(file)
			switch {
			case errors.Is(err, fs.ErrNotExist): // it isn't read when it appears, unlike a file of Files
				return nil, fmt.Errorf("authorize %s: the file doesn't exist: name a file with a public key, such as ~/.ssh/id_ed25519.pub", file)
			case len(problems) > 0:
				return nil, fmt.Errorf("authorize: %s", problems[0])
			}
			return nil, fmt.Errorf("authorize %s: it has no key", file)
		}
	}
	s.tell(s.problems)
	return s, nil
}

// Current is the keys of the last reading.
func (s *Store) Current() *Set {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.set
}

// Problems are the mistakes of the last reading.
func (s *Store) Problems() []Problem {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.problems)
}

// Empty says that no key can log in; then the server must not start.
func (s *Store) Empty() bool { return s.Current().Empty() }

// Changed is closed when the keys change. Call it before Current, and again after each change, so that
// no change is missed.
func (s *Store) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// Reload reads all files now.
func (s *Store) Reload() {
	s.reading.Lock()
	defer s.reading.Unlock()
	stamps := stampAll(s.o)
	set, problems := s.read()
	s.mu.Lock()
	s.set, s.problems, s.stamps = set, problems, stamps
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()
	s.tell(problems)
}

func (s *Store) tell(problems []Problem) {
	if s.o.Problems != nil && len(problems) > 0 {
		s.o.Problems(problems)
	}
}

func (s *Store) read() (*Set, []Problem) {
	set := &Set{}
	var problems []Problem
	for _, file := range s.o.Files {
		_, p := s.readOne(set, file, Operator)
		problems = append(problems, p...)
	}
	for _, file := range s.o.Authorize {
		_, p := s.readOne(set, file, Admin)
		problems = append(problems, p...)
	}
	revoked, p := s.readRevoked()
	set.revoked = revoked
	problems = append(problems, p...)
	set.guests, p = s.readGuests()
	return set, append(problems, p...)
}

// readRevoked reads the revocations. A file that can't be read, or that others could have written, may
// have been meant for any certificate.
func (s *Store) readRevoked() (*revocations, []Problem) {
	if s.o.Revoked == "" {
		return nil, nil
	}
	data, err := readTrusted(s.o.Revoked)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return s.lastRevoked(), []Problem{problemOf(s.o.Revoked, err)}
	}
	return parseRevoked(s.o.Revoked, data)
}

// lastRevoked is for revocations that can't be read, or that others could have written: that must not
// re-admit the revoked keys. What others write here can only revoke more.
func (s *Store) lastRevoked() *revocations {
	r := &revocations{unsound: true, keys: map[string]bool{}}
	if data, err := readRegular(s.o.Revoked); err == nil {
		now, _ := parseRevoked(s.o.Revoked, data)
		maps.Copy(r.keys, now.keys)
	}
	if set := s.Current(); set != nil && set.revoked != nil {
		maps.Copy(r.keys, set.revoked.keys)
	}
	return r
}

func (s *Store) readOne(set *Set, file string, byDefault Role) (*Set, []Problem) {
	data, err := readTrusted(file)
	if err != nil {
		return set, []Problem{problemOf(file, err)}
	}
	return set, set.add(file, data, byDefault, s.o.Now())
}

// Watch reads the files again when they change, and returns when ctx ends. Without notifications from
// the kernel, it checks the files every two seconds.
func (s *Store) Watch(ctx context.Context) error {
	var events chan fsnotify.Event
	var failures chan error
	watcher, err := fsnotify.NewWatcher()
	if err == nil {
		defer watcher.Close()
		events, failures = watcher.Events, watcher.Errors
		s.watchFolders(watcher)
	}
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	soon := time.NewTimer(settle)
	defer soon.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e, ok := <-events:
			if !ok {
				events = nil
			} else if s.concerns(e.Name) {
				soon.Reset(settle)
			}
		case _, ok := <-failures:
			// Polling makes up for a lost notification (a full queue).
			if !ok {
				failures = nil
			}
			soon.Reset(settle)
		case <-soon.C:
			s.look()
		case <-poll.C:
			s.look()
			if watcher != nil {
				s.watchFolders(watcher)
			}
		}
	}
}

// watchFolders watches the folders of the files, because a replaced file is another file. A folder that
// doesn't exist is tried again at each poll.
func (s *Store) watchFolders(w *fsnotify.Watcher) {
	watched := w.WatchList()
	for _, file := range s.files() {
		if dir := filepath.Dir(file); !slices.Contains(watched, dir) {
			if w.Add(dir) == nil {
				watched = append(watched, dir)
			}
		}
	}
}

func (s *Store) files() []string { return filesOf(s.o) }

func filesOf(o StoreOptions) []string {
	files := append(slices.Clone(o.Files), o.Authorize...)
	for _, more := range []string{o.Revoked, o.Guests, o.GuestAuthority} {
		if more != "" {
			files = append(files, more)
		}
	}
	return files
}

func (s *Store) concerns(name string) bool {
	return slices.ContainsFunc(s.files(), func(f string) bool { return filepath.Clean(f) == filepath.Clean(name) })
}

// look reads the files if anything about them has changed.
func (s *Store) look() {
	now := stampAll(s.o)
	s.mu.Lock()
	same := slices.Equal(now, s.stamps)
	s.mu.Unlock()
	if !same {
		s.Reload()
	}
}

func stampAll(o StoreOptions) []string {
	var out []string
	for _, file := range filesOf(o) {
		out = append(out, stamp(file))
	}
	return out
}
