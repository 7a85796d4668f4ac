package files

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pkg/sftp"

	"berth/commands"
	"berth/keys"
)

// TestRoom: however many identities take all they get, there is room for one more. What is given back is free.
func TestRoom(t *testing.T) {
	var r Room
	most := int64(largest)
	for _, who := range []string{"a", "b", "c", "d"} {
		if err := errors.Join(r.take(who, most-1), r.take(who, 1)); err != nil {
			t.Fatalf("%s: %v", who, err)
		}
		if err := r.take(who, 1); !errors.Is(err, errNoRoom) {
			t.Errorf("%s takes more than it leaves: %v", who, err)
		}
		most /= 2
	}
	r.give("a", largest)
	if err := r.take("e", aside/4); err != nil {
		t.Error(err)
	}
	for who, n := range maps.Clone(r.by) {
		r.give(who, n)
	}
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
	share := tree.request.Identity().Share()
	if err := tree.room.take(share, largest); err != nil {
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
	if err != nil || len(left) != 0 || tree.open != 0 || tree.room.all != largest {
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
