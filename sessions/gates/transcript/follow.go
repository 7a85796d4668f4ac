package transcript

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
)

// Place is between two lines of a part, for a reader that follows the log.
type Place struct {
	N      int
	Offset int64
}

// Recent is a place with at most most bytes after it, at the start of a line. Older parts of the same
// conversation are read too.
func (s *Store) Recent(most int64) (Place, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, err := s.load()
	if err != nil {
		return Place{}, err
	}
	at := Place{N: x.Next}
	last, err := s.lastLocked(x)
	if err != nil {
		return Place{}, err
	}
	if last != nil {
		defer last.Close() // only read, so an error doesn't matter
		if at.Offset, err = lineAfter(last, last.Size()-most); err != nil {
			return Place{}, fmt.Errorf("read %s: %w", x.Live.Path, err)
		}
		most -= last.Size()
	}
	for i := len(x.Parts) - 1; i >= 0 && x.Parts[i].Bytes <= most && x.Parts[i].N == at.N-1; i-- {
		at = Place{N: x.Parts[i].N}
		most -= x.Parts[i].Bytes
	}
	return at, nil
}

// lineAfter is the start of the first line after an offset.
func lineAfter(in io.ReaderAt, offset int64) (int64, error) {
	if offset <= 0 {
		return 0, nil
	}
	buf := bufio.NewReader(io.NewSectionReader(in, offset, 1<<62))
	for {
		piece, err := buf.ReadSlice('\n')
		if offset += int64(len(piece)); !errors.Is(err, bufio.ErrBufferFull) {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return offset, err
		}
	}
}

// After passes on each line after a place, to the end of the log, and returns the place there. A line
// that is too long has no Data. Lines have no number.
func (s *Store) After(ctx context.Context, p Place, each func(Line) error) (Place, error) {
	for {
		last, err := s.Last()
		if err != nil {
			return p, err
		}
		if p.N > 0 && p.N <= last {
			p.Offset, err = s.read(ctx, p, each)
		}
		if err != nil && !errors.Is(err, ErrGone) || p.N >= last {
			return p, err
		}
		p = Place{N: p.N + 1}
	}
}

// Live is the path of the log that the agent writes now; empty without one.
func (s *Store) Live() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, err := s.load()
	if err != nil {
		return ""
	}
	return x.Live.Path
}

// read passes on the lines of one part after a place, and returns the offset after the last.
func (s *Store) read(ctx context.Context, p Place, each func(Line) error) (int64, error) {
	from, err := s.open(p.N)
	if from == nil || err != nil {
		return 0, err
	}
	defer from.Close() // only read, so an error doesn't matter
	offset := p.Offset
	if offset > from.Size() { // the log was replaced
		offset = 0
	}
	start := offset
	counted := &counter{Reader: io.NewSectionReader(from, offset, from.Size()-offset)}
	in := bufio.NewReaderSize(counted, 64<<10)
	var line []byte
	for {
		if err := ctx.Err(); err != nil {
			return offset, err
		}
		data, long, err := readLine(in, line[:0])
		if errors.Is(err, io.EOF) {
			return offset, nil
		}
		if err != nil {
			return offset, fmt.Errorf("read transcript %d: %w", p.N, err)
		}
		if line = data; long {
			data = nil
		}
		if err := each(Line{N: p.N, Data: data}); err != nil {
			return offset, err
		}
		offset = start + counted.n - int64(in.Buffered())
	}
}

type counter struct {
	io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// Began reports whether another conversation begins with a part.
func (s *Store) Began(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, err := s.load()
	if err != nil {
		return false
	}
	for _, p := range x.Parts {
		if p.N == n-1 {
			return p.Reason != ReasonCompact
		}
	}
	return false
}
