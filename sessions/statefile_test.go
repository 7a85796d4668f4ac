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
// and a pipe that no process writes to is not read to its end.
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
	if err := k.s.do(ctx, func(c *core) { c.track.Freshen() }); err != nil {
		w, opened := os.OpenFile(files[0], os.O_WRONLY, 0) // lets the loop go
		t.Log(opened, os.Remove(files[0]), w.Close())
		t.Fatalf("the session has stopped: %v", err)
	}
}
