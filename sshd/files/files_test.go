package files

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pkg/sftp"

	"berth/commands"
	"berth/keys"
)

// What lies aside is bounded for one client and for all of them, and counted
// out again.
func TestRoom(t *testing.T) {
	var r Room
	if err := errors.Join(r.take("a", largest-1), r.take("a", 1)); err != nil {
		t.Fatal(err)
	}
	if err := r.take("a", 1); !errors.Is(err, errNoRoom) {
		t.Errorf("more than one may have: %v", err)
	}
	if err := r.take("b", largest); err != nil {
		t.Fatal(err)
	}
	if err := r.take("c", 1); !errors.Is(err, errNoRoom) {
		t.Errorf("more than all may have: %v", err)
	}
	r.give("a", largest)
	if err := r.take("c", largest); err != nil {
		t.Error(err)
	}
	r.give("b", largest)
	r.give("c", largest)
	if r.all != 0 || len(r.by) != 0 {
		t.Errorf("%+v", r.by)
	}
}

// looker is a tree of a server that is no more than its log.
func looker() *Tree {
	return &Tree{
		commands: &commands.Service{Log: slog.New(slog.DiscardHandler)},
		request:  commands.Request{Identity: func() keys.Identity { return keys.Identity{Kind: keys.KindKey, Name: "v", Role: keys.Viewer} }},
		ctx:      context.Background(), room: &Room{},
	}
}

// A file that finds no room leaves nothing: no bytes counted, no file open, no
// handle.
func TestNoRoom(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	tree := looker()
	if err := tree.room.take("another", largest); err != nil {
		t.Fatal(err)
	}
	if err := tree.room.take("one more", largest); err != nil {
		t.Fatal(err)
	}
	if err := tree.enter(); err != nil {
		t.Fatal(err)
	}
	k := kind{name: "x", lines: line("version ")}
	if h, err := tree.aside(place{kind: &k}); err == nil || h != nil {
		t.Errorf("%v %v", h, err)
	}
	left, err := os.ReadDir(temp)
	if err != nil || len(left) != 0 || tree.open != 0 || tree.room.all != 2*largest {
		t.Errorf("%v %v, %d open, %d bytes", left, err, tree.open, tree.room.all)
	}
}

// TestOffsets: no error of a read or a write names the temporary file.
func TestOffsets(t *testing.T) {
	tree := looker()
	k := kind{name: "x", lines: line("version ")}
	if err := tree.enter(); err != nil {
		t.Fatal(err)
	}
	f, err := os.CreateTemp(t.TempDir(), "x")
	if err != nil {
		t.Fatal(err)
	}
	h := &handle{File: f, tree: tree}
	if _, err := h.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	for _, offset := range []int64{-1, math.MinInt64, math.MaxInt64, 1} {
		if n, err := h.ReadAt(make([]byte, 1), offset); n != 0 || err == nil || strings.Contains(err.Error(), "/") {
			t.Errorf("at %d: %d bytes, %v", offset, n, err)
		}
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	_, read := h.ReadAt(make([]byte, 1), 0)
	_, written := h.Write([]byte("x"))
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	if err := tree.enter(); err != nil {
		t.Fatal(err)
	}
	_, made := tree.aside(place{kind: &k})
	for _, err := range []error{read, written, made} {
		if err == nil || strings.Contains(err.Error(), "/") {
			t.Errorf("%v", err)
		}
	}
}

// A panic is one request's failure: it runs on a goroutine that pkg/sftp made.
func TestPanicIsContained(t *testing.T) {
	tree := looker() // which has no sessions: looking for one panics
	if _, err := tree.Fileread(&sftp.Request{Method: "Get", Filepath: "/alpha/screen.txt"}); err == nil || strings.Contains(err.Error(), "nil pointer") {
		t.Errorf("%v", err)
	}
	if _, err := tree.Filelist(&sftp.Request{Method: "List", Filepath: "/alpha"}); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("%v", err)
	}
}
