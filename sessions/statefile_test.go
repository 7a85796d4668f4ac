package sessions

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestStateFileHoldsNobodyUp: the file lies where the agent may put anything,
// and a pipe that nobody writes to is not read to its end.
func TestStateFileHoldsNobodyUp(t *testing.T) {
	k := newKeeper(t, "")
	k.write(k.turn("a"))
	k.is("idle")
	dir := filepath.Dir(k.path)
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	pipe := filepath.Join(dir, "pipe")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.Rename(pipe, files[0])); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	// A look at the files of its own: the note of the change may be lost.
	if err := k.s.do(ctx, func(c *core) { c.readFiles() }); err != nil {
		w, opened := os.OpenFile(files[0], os.O_WRONLY, 0) // lets the loop go
		t.Log(opened, os.Remove(files[0]), w.Close())
		t.Fatalf("the session stands still: %v", err)
	}
}

func TestReadSmall(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "file")
	for size, ok := range map[int64]bool{0: true, 1: true, stateFileMost: true, stateFileMost + 1: false, 1 << 40: false} {
		if err := errors.Join(os.WriteFile(name, nil, 0o600), os.Truncate(name, size)); err != nil {
			t.Fatal(err)
		}
		data, err := readSmall(name, os.Geteuid(), stateFileMost)
		if (err == nil) != ok || ok && int64(len(data)) != size {
			t.Errorf("%d bytes: %d, %v", size, len(data), err)
		}
	}
	link := filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(name, []byte("{}"), 0o600), os.Symlink(name, link)); err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{dir, os.DevNull, link, filepath.Join(dir, "none")} {
		if _, err := readSmall(other, os.Geteuid(), stateFileMost); err == nil {
			t.Errorf("%s was read", other)
		}
	}
	if _, err := readSmall(name, os.Geteuid()+1, stateFileMost); err == nil {
		t.Error("a file of another user's than the agent's was read")
	}
}
