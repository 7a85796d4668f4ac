package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/sessions/hold"
	"berth/terminal"
)

// scrollback is the default number of lines of a session.
const scrollback = 2000

// truth is what a session's screen must be: a new emulator that gets the program's own copy of its
// output, and the resizes of the journal at their offsets.
type truth struct {
	t     *testing.T
	dir   string // the session's folder
	sent  string // the program's own copy of what it printed
	term  *terminal.Terminal
	sizes []hold.Record // the resizes that come next
	read  uint64
}

func newTruth(t *testing.T, dir, sent string, cols, rows int) *truth {
	return &truth{t: t, dir: dir, sent: sent, term: terminal.New(terminal.Options{Cols: cols, Rows: rows, Scrollback: scrollback})}
}

// upTo feeds the emulator up to an offset.
func (k *truth) upTo(offset int64) *terminal.Terminal {
	k.t.Helper()
	must(k.t, hold.ReadControl(k.dir, k.read, func(r hold.Record) error {
		k.read = r.N
		if r.Kind == hold.KindResize {
			k.sizes = append(k.sizes, r)
		}
		return nil
	}))
	file, err := os.Open(k.sent)
	must(k.t, err)
	defer file.Close()
	for {
		next := offset
		if len(k.sizes) > 0 {
			next = min(next, k.sizes[0].Offset)
		}
		if at := k.term.Offset(); at < next {
			buf := make([]byte, min(next-at, 1<<20))
			n, err := file.ReadAt(buf, at)
			if n == 0 {
				k.t.Fatalf("the program's copy of its output ends at %d: %v", at, err)
			}
			_, _ = k.term.Write(buf[:n]) // never fails
			continue
		}
		if len(k.sizes) == 0 || k.sizes[0].Offset > offset {
			return k.term
		}
		var size hold.ResizeData
		must(k.t, json.Unmarshal(k.sizes[0].Data, &size))
		k.term.Resize(size.Cols, size.Rows)
		k.sizes = k.sizes[1:]
	}
}

type screen struct {
	Lines      []string
	Cols, Rows int
	Cursor     struct {
		Row, Col int
		Visible  bool
	}
	AltScreen bool `json:"alt_screen"`
	Offset    int64
}

// printedUpTo reports whether the program's copy reaches an offset. The program writes the copy after the
// output.
func (k *truth) printedUpTo(offset int64) bool {
	info, err := os.Stat(k.sent)
	return err == nil && info.Size() >= offset
}

// compare compares a screen and its history with the truth at its offset.
func (k *truth) compare(got screen) {
	k.t.Helper()
	waitFor(k.t, "the program's copy of its output", func() bool { return k.printedUpTo(got.Offset) })
	want := k.upTo(got.Offset).Snapshot(scrollback)
	var lines []string
	for _, l := range append(append([]*terminal.Line{}, want.History...), want.Lines...) {
		lines = append(lines, l.Text())
	}
	if at, ok := firstDifference(got.Lines, lines); ok {
		k.t.Fatalf("at offset %d, %dx%d, line %d of %d (want %d lines) differs:\n got %q\nwant %q", got.Offset, got.Cols, got.Rows, at, len(got.Lines), len(lines), lineAt(got.Lines, at), lineAt(lines, at))
	}
	if got.Cursor.Row != want.Cursor.Row || got.Cursor.Col != want.Cursor.Col || got.Cursor.Visible != want.Cursor.Visible || got.AltScreen != want.Modes.AltScreen {
		k.t.Fatalf("at offset %d the cursor is %+v, want %+v", got.Offset, got.Cursor, want.Cursor)
	}
}

func lineAt(lines []string, i int) string {
	if i >= len(lines) {
		return "(none)"
	}
	return lines[i]
}

func firstDifference(a, b []string) (int, bool) {
	for i := range max(len(a), len(b)) {
		if lineAt(a, i) != lineAt(b, i) {
			return i, true
		}
	}
	return 0, false
}

// compareColours compares the screen with its attributes with the truth, for a session that prints no
// more.
func (k *truth) compareColours(h *host, name string, offset int64) {
	k.t.Helper()
	got := h.run("screen", name, "--ansi", "--scrollback", fmt.Sprint(scrollback))
	want := k.upTo(offset).Snapshot(scrollback)
	var picture strings.Builder
	for _, l := range append(append([]*terminal.Line{}, want.History...), want.Lines...) {
		picture.WriteString(l.ANSI() + "\n")
	}
	if at, ok := firstDifference(strings.Split(string(got), "\n"), strings.Split(picture.String(), "\n")); ok {
		k.t.Fatalf("line %d differs with its colours", at)
	}
}

// compareOutput compares the output that Berth returns from an offset on with the program's copy.
func (k *truth) compareOutput(h *host, name string) {
	k.t.Helper()
	sent, err := os.ReadFile(k.sent)
	must(k.t, err)
	var got bytes.Buffer
	for int64(got.Len()) < int64(len(sent)) { // in pieces, as a client reads by offset
		piece := h.run("output", name, "--raw", "--limit", fmt.Sprint(1<<20), "--offset", fmt.Sprint(got.Len()))
		if len(piece) == 0 {
			break
		}
		got.Write(piece)
	}
	if !bytes.Equal(got.Bytes(), sent) {
		at := 0
		for at < min(got.Len(), len(sent)) && got.Bytes()[at] == sent[at] {
			at++
		}
		k.t.Fatalf("output has %d bytes, the program printed %d; they differ at %d", got.Len(), len(sent), at)
	}
	k.t.Logf("output: %d bytes, read back by offset in pieces, equal to what the program printed", len(sent))
}

// notes returns the counting program's record of what it has read.
func notes(t *testing.T, dir string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "read"))
	must(t, err)
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}
