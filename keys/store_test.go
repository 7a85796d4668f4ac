package keys

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func write(t *testing.T, path, data string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

func waitChange(t *testing.T, changed <-chan struct{}) {
	t.Helper()
	select {
	case <-changed:
	case <-time.After(10 * time.Second):
		t.Fatal("the change was not seen")
	}
}

func TestStoreFollowsItsFiles(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "authorized_keys")
	key1, text1 := newKey(t)
	key2, text2 := newKey(t)
	s, err := OpenStore(StoreOptions{Files: []string{file}, Now: func() time.Time { return noon }})
	if err != nil || !s.Empty() || len(s.Problems()) != 1 {
		t.Fatalf("with no file yet: %v %v", err, s.Problems())
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Watch(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Watch ended with %v", err)
		}
	}()

	changed := s.Changed()
	write(t, file, text1+"\n"+text2+"\n")
	waitChange(t, changed)
	if s.Current().Len() != 2 {
		t.Fatalf("%d keys: %v", s.Current().Len(), s.Problems())
	}
	// Replaced, as editors do, with one key less.
	changed = s.Changed()
	write(t, file+".new", text2+"\n")
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
	waitChange(t, changed)
	if _, err := s.Current().Lookup(key1, nil, noon); !errors.Is(err, ErrNotListed) {
		t.Errorf("the removed key: %v", err)
	}
	if _, err := s.Current().Lookup(key2, nil, noon); err != nil {
		t.Errorf("the key that stayed: %v", err)
	}
	// A folder opened to others makes no event for the file: the poll sees it.
	changed = s.Changed()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	waitChange(t, changed)
	if !s.Empty() || !strings.Contains(s.Problems()[0].String(), "can be written by others") {
		t.Errorf("with an open folder: %v", s.Problems())
	}
}

func TestStrictModes(t *testing.T) {
	_, text := newKey(t)
	for name, c := range map[string]struct {
		spoil func(t *testing.T, dir, file string)
		says  string
	}{
		"group may write":  {func(t *testing.T, _, f string) { chmod(t, f, 0o620) }, "chmod go-w"},
		"others may write": {func(t *testing.T, _, f string) { chmod(t, f, 0o602) }, "chmod go-w"},
		"folder is open":   {func(t *testing.T, d, _ string) { chmod(t, d, 0o777) }, "chmod go-w"},
		"foreign owner":    {func(t *testing.T, _, f string) { chown(t, f) }, "belongs to uid"},
		"foreign folder":   {func(t *testing.T, d, _ string) { chown(t, d) }, "belongs to uid"},
		"a folder":         {func(t *testing.T, _, f string) { remake(t, f, func() error { return os.Mkdir(f, 0o700) }) }, "isn't a regular file"},
		"a pipe":           {func(t *testing.T, _, f string) { remake(t, f, func() error { return mkfifo(f) }) }, "isn't a regular file"},
		"a link to nothing": {func(t *testing.T, _, f string) {
			remake(t, f, func() error { return os.Symlink("/nowhere/at/all", f) })
		}, "doesn't exist"},
		"too long": {func(t *testing.T, _, f string) {
			write(t, f, text+"\n"+strings.Repeat("#\n", maxFile/2))
		}, "longer than"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "d")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, "keys")
			write(t, file, text)
			c.spoil(t, dir, file)
			s, err := OpenStore(StoreOptions{Files: []string{file}})
			if err != nil {
				t.Fatal(err)
			}
			if !s.Empty() || len(s.Problems()) != 1 || !strings.Contains(s.Problems()[0].String(), c.says) {
				t.Errorf("%d keys, %v", s.Current().Len(), s.Problems())
			}
			if _, err := OpenStore(StoreOptions{Authorize: []string{file}}); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("--authorize: %v", err)
			}
		})
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func chown(t *testing.T, path string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can give a file away")
	}
	if err := os.Chown(path, 12345, -1); err != nil {
		t.Fatal(err)
	}
}

func remake(t *testing.T, path string, make func() error) {
	t.Helper()
	if err := errors.Join(os.Remove(path), make()); err != nil {
		t.Fatal(err)
	}
}

func TestAuthorizedFilesAreAdmins(t *testing.T) {
	dir := t.TempDir()
	key1, text1 := newKey(t)
	key2, text2 := newKey(t)
	file := filepath.Join(dir, "keys")
	pub := filepath.Join(dir, "id.pub")
	write(t, file, text1+"\n")
	write(t, pub, text2+" me\n")
	s, err := OpenStore(StoreOptions{Files: []string{file}, Authorize: []string{pub}})
	if err != nil {
		t.Fatal(err)
	}
	if id, _ := s.Current().Lookup(key1, nil, noon); id.Role != Operator {
		t.Errorf("a plain line: %v", id.Role)
	}
	if id, _ := s.Current().Lookup(key2, nil, noon); id.Role != Admin || id.Line != pub+":1" {
		t.Errorf("--authorize: %+v", id)
	}
	// The files come first: a line there decides over --authorize.
	write(t, file, `role="viewer" `+text2+"\n")
	s.Reload()
	if id, _ := s.Current().Lookup(key2, nil, noon); id.Role != Viewer {
		t.Errorf("listed twice: %v", id.Role)
	}
	if _, err := OpenStore(StoreOptions{Authorize: []string{filepath.Join(dir, "no.pub")}}); err == nil ||
		!strings.HasSuffix(err.Error(), "no.pub: the file doesn't exist: name a file with a public key, such as ~/.ssh/id_ed25519.pub") {
		t.Errorf("a missing file of --authorize: %v", err)
	}
	write(t, pub, "# nothing\n")
	if _, err := OpenStore(StoreOptions{Authorize: []string{pub}}); err == nil || !strings.Contains(err.Error(), "no key") {
		t.Errorf("an empty file of --authorize: %v", err)
	}
}
