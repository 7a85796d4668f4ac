// Package tail reads the lines that are added to a file that another program
// writes. What was taken in is a Mark, which a later Tail goes on from: no
// line is lost and none comes twice.
package tail

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// Bounds of a Tail.
const (
	// LineLimit is the longest line that is taken in, in bytes. A longer one is
	// skipped and counted. A line of 1 MiB takes some 10 ms to decode.
	LineLimit = 1 << 20
	// block is how much is read at once when the beginning is looked for.
	block = 64 << 10
	// lookBack is how far back from its end the beginning is looked for in a file
	// that was there before.
	lookBack = 4 << 20
)

// FS finds files. Both methods give an error that is fs.ErrNotExist for a file
// that is not there, and must wait for nobody.
type FS interface {
	Stat(path string) (Info, error)
	Open(path string) (File, error)
}

// File is an open file.
type File interface {
	io.ReaderAt
	io.Closer
	Info() (Info, error)
}

// Info is what tells a file from another, and how long it is.
type Info struct {
	ID   string // never that of another file that is there at the same time
	Size int64
}

// Mark is how far a file was taken in.
type Mark struct {
	Path string `json:"path"`
	File string `json:"file"` // its id; empty: it was not there yet
	Place
	Renewed uint64 `json:"renewed"` // times that the file was replaced or cut short
}

// Line is one whole line.
type Line struct {
	Data    []byte // without its end; only lent
	File    string // id of the file
	Next    int64  // where the line behind it begins
	Renewed uint64 // as the mark has it
}

// Tail follows one file. It is for one goroutine.
type Tail struct {
	fs      FS
	old     func(line []byte) bool
	path    string
	file    string
	renewed uint64
	lines   *Assembler
}

// New follows the file at a path. A file that is there at the first look is
// begun behind the last line of which old says that it is of the past; old may
// be nil, for none.
func New(fsys FS, path string, old func(line []byte) bool) *Tail {
	return Resume(fsys, Mark{Path: path}, old)
}

// Resume goes on where a mark was made.
func Resume(fsys FS, m Mark, old func(line []byte) bool) *Tail {
	return &Tail{fs: fsys, old: old, path: m.Path, file: m.File, renewed: m.Renewed, lines: Assemble(m.Place, LineLimit)}
}

// Mark is how far the file was taken in.
func (t *Tail) Mark() Mark {
	return Mark{Path: t.path, File: t.file, Place: t.lines.Place(), Renewed: t.renewed}
}

// Look takes in what was added since the last time, reading at most budget
// bytes of it, and calls each for each line. More says that there is something
// left. A file that is not there, or not there any more, is no error.
func (t *Tail) Look(budget int, each func(Line)) (more bool, err error) {
	info, err := t.fs.Stat(t.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && t.unchanged(info) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look at %s: %w", t.path, err)
	}
	f, err := t.fs.Open(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("open %s: %w", t.path, err)
	}
	defer f.Close() // it was only read
	if info, err = f.Info(); err != nil {
		return false, fmt.Errorf("look at %s: %w", t.path, err)
	}
	if err := t.place(f, info); err != nil {
		return false, fmt.Errorf("read %s: %w", t.path, err)
	}
	if more, err = t.read(f, info.Size, budget, each); err != nil {
		return false, fmt.Errorf("read %s: %w", t.path, err)
	}
	return more, nil
}

func (t *Tail) unchanged(info Info) bool {
	return info.ID == t.file && info.Size == t.lines.At()
}

// place finds where to read on: another file, or one that was cut short or
// written anew, is read from its beginning.
func (t *Tail) place(f File, info Info) error {
	switch {
	case t.file == "":
		offset, err := t.beginning(f, info.Size)
		if err != nil {
			return err
		}
		t.file, t.lines = info.ID, Assemble(Place{Offset: offset}, LineLimit)
		return nil
	case info.ID == t.file && info.Size >= t.lines.At():
		same, err := t.endsLine(f)
		if err != nil || same {
			return err
		}
	}
	t.file, t.lines = info.ID, Assemble(Place{Skipped: t.lines.Place().Skipped}, LineLimit)
	t.renewed++
	return nil
}

// endsLine says whether a line ends where the mark is, as one did when it was
// made.
func (t *Tail) endsLine(f File) (bool, error) {
	p := t.lines.Place()
	if p.Offset == 0 || p.Inside || p.Offset < t.lines.At() {
		return true, nil
	}
	var before [1]byte
	if _, err := f.ReadAt(before[:], p.Offset-1); err != nil {
		return false, err
	}
	return before[0] == '\n', nil
}

// beginning is the offset behind the last line that is of the past.
func (t *Tail) beginning(f File, size int64) (int64, error) {
	if t.old == nil {
		return 0, nil
	}
	buf := make([]byte, min(block, size))
	first := size
	for end := size; end > 0 && size-end < lookBack; end -= int64(len(buf)) {
		buf = buf[:min(block, end)]
		from := end - int64(len(buf))
		if _, err := f.ReadAt(buf, from); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if at, ok := t.lastOld(buf, from == 0); ok {
			return from + int64(at), nil
		}
		if from == 0 {
			return 0, nil
		}
		if at := bytes.IndexByte(buf, '\n'); at >= 0 {
			first = from + int64(at) + 1
		}
	}
	return first, nil
}

// lastOld is the offset in a piece of a file behind the last of its whole lines
// that is of the past.
func (t *Tail) lastOld(piece []byte, whole bool) (int, bool) {
	end := bytes.LastIndexByte(piece, '\n') + 1
	for end > 0 {
		from := bytes.LastIndexByte(piece[:end-1], '\n') + 1
		if from == 0 && !whole {
			return 0, false
		}
		if t.old(trim(piece[from:end])) {
			return end, true
		}
		end = from
	}
	return 0, false
}

// read takes in at most budget bytes.
func (t *Tail) read(f File, size int64, budget int, each func(Line)) (more bool, err error) {
	from := t.lines.At()
	want := min(size-from, int64(budget))
	if want <= 0 {
		return size > from, nil
	}
	buf := make([]byte, want)
	n, err := f.ReadAt(buf, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	t.lines.Take(buf[:n], func(line []byte, next int64) {
		each(Line{Data: line, File: t.file, Next: next, Renewed: t.renewed})
	})
	return n > 0 && size > from+int64(n), nil
}

// trim takes off a line's end, be it LF or CR LF.
func trim(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}
