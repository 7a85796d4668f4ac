// Package tail reads the lines that another program appends to a file: agents' session logs and
// structured output. A Mark says how far a file was read, and a later Tail continues from it. No
// line is lost or read twice, not even across a restart. Sessions and detection's tests use it. A
// Tail belongs to one goroutine.
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
	// LineLimit is the longest line that is read, in bytes. A longer one is skipped and counted. A
	// line of 1 MiB takes some 10 ms to decode.
	LineLimit = 1 << 20
	// block is how many bytes are read at once to find the first new line.
	block = 64 << 10
	// lookBack is how far from the end of an existing file the first new line is searched for.
	lookBack = 4 << 20
)

// FS finds files. Both methods return an error that is fs.ErrNotExist for a missing file. They must
// not block.
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

// Info identifies a file and says how long it is.
type Info struct {
	ID   string // unique among the files that exist at the same time
	Size int64
}

// Mark is how far a file was read.
type Mark struct {
	Path string `json:"path"`
	File string `json:"file"` // the file's id; empty if it didn't exist yet
	Place
	Renewed uint64 `json:"renewed"` // how often the file was replaced or truncated
}

// Line is one whole line.
type Line struct {
	Data    []byte // without its end; valid only during the call
	File    string // id of the file
	Next    int64  // offset of the next line
	Renewed uint64 // the mark's value
}

// Tail follows one file. Only one goroutine may use it.
type Tail struct {
	fs      FS
	old     func(line []byte) bool
	path    string
	file    string
	renewed uint64
	lines   *Assembler
}

// New follows the file at a path. If the file exists when New's Tail first looks, the Tail starts
// after the last line that old returns true for. A nil old reads all lines.
func New(fsys FS, path string, old func(line []byte) bool) *Tail {
	return Resume(fsys, Mark{Path: path}, old)
}

// Resume continues from a mark.
func Resume(fsys FS, m Mark, old func(line []byte) bool) *Tail {
	return &Tail{fs: fsys, old: old, path: m.Path, file: m.File, renewed: m.Renewed, lines: Assemble(m.Place, LineLimit)}
}

// Mark is how far the file was read.
func (t *Tail) Mark() Mark {
	return Mark{Path: t.path, File: t.file, Place: t.lines.Place(), Renewed: t.renewed}
}

// Look reads what was appended since the last call, at most budget bytes, and calls each for each
// line. more says that something is left. A missing file isn't an error.
func (t *Tail) Look(budget int, each func(Line)) (more bool, err error) {
	info, err := t.fs.Stat(t.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && t.unchanged(info) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("stat %s: %w", t.path, err)
	}
	f, err := t.fs.Open(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("open %s: %w", t.path, err)
	}
	defer f.Close() // the file was only read
	if info, err = f.Info(); err != nil {
		return false, fmt.Errorf("stat %s: %w", t.path, err)
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

// place finds the offset to read from. Another file, or one that was truncated or rewritten, is
// read from its start.
func (t *Tail) place(f File, info Info) error {
	switch {
	case t.file == "":
		begins, err := t.beginning(f, info.Size)
		if err != nil {
			return err
		}
		t.file, t.lines = info.ID, Assemble(begins, LineLimit)
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

// endsLine reports whether a line still ends at the mark. If not, the file was rewritten.
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

// beginning is the place after the last old line. Lines before what is searched for that one count as one that is too long.
func (t *Tail) beginning(f File, size int64) (Place, error) {
	if t.old == nil || size == 0 {
		return Place{}, nil
	}
	buf := make([]byte, min(block, size))
	place := Place{Offset: size, Inside: true, Skipped: 1}
	for end := size; end > 0 && size-end < lookBack; end -= int64(len(buf)) {
		buf = buf[:min(block, end)]
		from := end - int64(len(buf))
		if _, err := f.ReadAt(buf, from); err != nil && !errors.Is(err, io.EOF) {
			return Place{}, err
		}
		if at, ok := t.lastOld(buf, from == 0); ok {
			return Place{Offset: from + int64(at)}, nil
		}
		if from == 0 {
			return Place{}, nil
		}
		if at := bytes.IndexByte(buf, '\n'); at >= 0 {
			place.Offset, place.Inside = from+int64(at)+1, false
		}
	}
	return place, nil
}

// lastOld is the offset in a piece of a file after the last of its whole lines that is old.
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

// read reads at most budget bytes.
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

// trim removes a line's end: LF or CR LF.
func trim(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}
