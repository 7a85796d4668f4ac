package hold

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"

	"berth/rawio"
)

// Output reads a session's output by offset, while a holder writes and
// deletes it or long after. One goroutine may use it at a time.
type Output struct {
	dir   string
	file  *os.File // the segment last read from, or nil
	start int64
}

// OpenOutput opens the output in a session's folder. The folder need not
// exist yet. Close frees the open segment.
func OpenOutput(dir string) *Output {
	return &Output{dir: filepath.Join(dir, outputDir)}
}

// Close frees the open file. The Output may be used again.
func (o *Output) Close() error {
	if o.file == nil {
		return nil
	}
	err := o.file.Close()
	o.file = nil
	return err
}

// ReadAt reads what follows off, at most len(p) bytes and seldom across a
// segment's border: n > 0 with no error. At the end it is 0, io.EOF; where
// bytes were deleted or lost it is 0 and a *TrimmedError.
func (o *Output) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("read output at %d: negative offset", off)
	}
	if len(p) == 0 {
		return 0, nil
	}
	if n, err := o.readOpen(p, off); n > 0 || err != nil {
		return n, err
	}
	if o.open(off) == nil { // the next segment starts where this one ended
		if n, err := o.readOpen(p, off); n > 0 || err != nil {
			return n, err
		}
	}
	// A segment listed may be deleted before it is opened: list again.
	for range 100 {
		n, again, err := o.readListed(p, off)
		if !again {
			return n, err
		}
	}
	return 0, fmt.Errorf("read output at %d: its segments keep vanishing", off)
}

// readOpen reads from the open segment: 0, nil when off is not in it (yet).
func (o *Output) readOpen(p []byte, off int64) (int, error) {
	if o.file == nil || off < o.start {
		return 0, nil
	}
	n, err := rawio.ReadAt(o.file, p, off-o.start)
	if err != nil && !errors.Is(err, io.EOF) {
		return n, fmt.Errorf("read output at %d: %w", off, err)
	}
	return n, nil
}

// open makes the segment that starts at start the open one.
func (o *Output) open(start int64) error {
	f, err := os.Open(segmentName(o.dir, uint64(start), outputExt))
	if err != nil {
		return err
	}
	o.Close()
	o.file, o.start = f, start
	return nil
}

// readListed looks at all segments there are. again says that what it saw is
// out of date.
func (o *Output) readListed(p []byte, off int64) (n int, again bool, err error) {
	firsts, err := listSegments(o.dir, outputExt)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return 0, false, err
	}
	if len(firsts) == 0 {
		return 0, false, io.EOF
	}
	i := sort.Search(len(firsts), func(i int) bool { return int64(firsts[i]) > off })
	if i == 0 {
		return 0, false, &TrimmedError{First: int64(firsts[0])}
	}
	if err := o.open(int64(firsts[i-1])); err != nil {
		return 0, errors.Is(err, os.ErrNotExist), err
	}
	if n, err := o.readOpen(p, off); n > 0 || err != nil {
		return n, false, err
	}
	// A segment with a successor never grows again, and it was read after
	// the successor was seen: what is missing between them is lost.
	if i < len(firsts) {
		return 0, false, &TrimmedError{First: int64(firsts[i])}
	}
	return 0, false, io.EOF
}

// Range is the first stored offset and the offset after the last byte.
func (o *Output) Range() (first, next int64, err error) {
	segments, err := statSegments(o.dir, outputExt)
	if errors.Is(err, os.ErrNotExist) {
		return 0, 0, nil
	}
	if err != nil || len(segments) == 0 {
		return 0, 0, err
	}
	last := segments[len(segments)-1]
	return int64(segments[0].first), int64(last.first) + last.size, nil
}
