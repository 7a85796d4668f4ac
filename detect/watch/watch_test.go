package watch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func start(t *testing.T) *Watcher {
	t.Helper()
	w, err := New()
	check(t, err)
	t.Cleanup(func() { check(t, w.Close()) })
	return w
}

func rings(t *testing.T, bell <-chan struct{}, why string) {
	t.Helper()
	select {
	case <-bell:
	case <-time.After(10 * time.Second):
		t.Fatalf("no bell: %s", why)
	}
}

// quiet drains the bells of a change that was reported. It makes a later change in the folder and
// waits until that one is reported too.
func quiet(t *testing.T, w *Watcher, dir string) {
	t.Helper()
	bell := make(chan struct{}, 1)
	path := filepath.Join(dir, "another")
	s, err := w.Watch(path, bell)
	check(t, err)
	defer s.Stop()
	check(t, os.WriteFile(path, []byte("x"), 0o600))
	rings(t, bell, "another file was written")
	check(t, os.Remove(path))
}

func TestWatch(t *testing.T) {
	w, dir := start(t), t.TempDir()
	path := filepath.Join(dir, "file")
	bell := make(chan struct{}, 1)
	s, err := w.Watch(path, bell)
	check(t, err)
	defer s.Stop()
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"made", func() error { return os.WriteFile(path, []byte("a"), 0o600) }},
		{"written", func() error {
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteString("b")
			return errors.Join(err, f.Close())
		}},
		{"replaced", func() error {
			return errors.Join(os.WriteFile(path+".new", nil, 0o600), os.Rename(path+".new", path))
		}},
		{"removed", func() error { return os.Remove(path) }},
	} {
		quiet(t, w, dir)
		select {
		case <-bell:
		default:
		}
		check(t, step.do())
		rings(t, bell, "the file was "+step.name)
	}
}

// TestShared: two subscriptions for one file, and one for another file of the folder. The end of
// one leaves the others.
func TestShared(t *testing.T) {
	w, dir := start(t), t.TempDir()
	bells := [3]chan struct{}{make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{}, 1)}
	var subs [3]*Subscription
	for i, name := range []string{"a", "a", "b"} {
		var err error
		subs[i], err = w.Watch(filepath.Join(dir, name), bells[i])
		check(t, err)
	}
	subs[0].Stop()
	subs[0].Stop()
	check(t, os.WriteFile(filepath.Join(dir, "a"), []byte("a"), 0o600))
	rings(t, bells[1], "a was written")
	quiet(t, w, dir)
	if len(bells[0])+len(bells[2]) > 0 {
		t.Error("a bell rang for a stopped subscription, or for another file")
	}
	subs[1].Stop()
	subs[2].Stop()
	if list := w.system.WatchList(); len(list) > 0 {
		t.Errorf("still watched: %v", list)
	}
}

// TestFolder: a missing folder is an error. A folder that is removed rings the bell once more, and
// then the subscription is dead.
func TestFolder(t *testing.T) {
	w, dir := start(t), filepath.Join(t.TempDir(), "folder")
	bell := make(chan struct{}, 1)
	path := filepath.Join(dir, "file")
	if _, err := w.Watch(path, bell); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("watching in a missing folder: %v", err)
	}
	check(t, os.Mkdir(dir, 0o700))
	s, err := w.Watch(path, bell)
	check(t, err)
	if !s.Live() {
		t.Error("dead at once")
	}
	check(t, os.Remove(dir))
	rings(t, bell, "the folder was removed")
	if s.Live() {
		t.Error("live without its folder")
	}
	s.Stop()
	check(t, os.Mkdir(dir, 0o700))
	s, err = w.Watch(path, bell)
	check(t, err)
	check(t, os.WriteFile(path, []byte("a"), 0o600))
	rings(t, bell, "the file was made in the new folder")
	s.Stop()
}

// TestMany: subscriptions come and go while files change.
func TestMany(t *testing.T) {
	w, dir := start(t), t.TempDir()
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				_ = os.WriteFile(filepath.Join(dir, "file"), []byte("x"), 0o600)
			}
		}
	}()
	for range 200 {
		bell := make(chan struct{}, 1)
		s, err := w.Watch(filepath.Join(dir, "file"), bell)
		check(t, err)
		rings(t, bell, "the file changes all the time")
		s.Stop()
	}
	close(stop)
	<-done
}
