package transcript

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Listed is a part in the list of parts. The last one is the log itself.
type Listed struct {
	Part
	Live bool `json:"live"`
}

// Line is one line of a part, numbered from 1.
type Line struct {
	N, Line int
	Data    []byte // without the line's end; valid only during the call
}

// MostLine is the maximum length of a line. The Data of a longer one is nil.
const MostLine = 16 << 20

var (
	// ErrGone: the part was deleted because of the limits.
	ErrGone = errors.New("it is not kept any more")
	// ErrNone: there is no such part yet.
	ErrNone = errors.New("there is no such transcript")
)

// Saved are the saved parts that still exist.
func (s *Store) Saved() ([]Part, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, err := s.load()
	if err != nil {
		return nil, err
	}
	return append([]Part{}, x.Parts...), nil
}

// List lists the parts, and at the end the log itself.
func (s *Store) List() ([]Listed, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, err := s.load()
	if err != nil {
		return nil, err
	}
	list := []Listed{}
	for _, p := range x.Parts {
		list = append(list, Listed{Part: p})
	}
	last, err := s.lastLocked(x)
	if err != nil {
		return nil, err
	}
	if last == nil {
		return list, nil
	}
	defer last.Close()
	count := &lineCounter{}
	if _, err := io.Copy(count, last); err != nil {
		return nil, fmt.Errorf("read %s: %w", x.Live.Path, err)
	}
	return append(list, Listed{Part: Part{N: x.Next, Bytes: last.Size(), Lines: count.lines, Conversation: x.Live.Conversation}, Live: true}), nil
}

// part is a part that is being read.
type part struct {
	*io.SectionReader
	file *os.File
}

func (p *part) Close() error { return p.file.Close() }

// lastLocked opens the unsaved rest of the log, up to its current end. A part that is saved later has all of it.
// It returns nil if there is no log yet. The caller holds mu.
func (s *Store) lastLocked(x *index) (*part, error) {
	if x.Live.Path == "" {
		return nil, nil
	}
	f, err := s.logs.OpenFile(x.Live.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	at := x.Live // a copy, because reach changes it
	end, err := at.reach(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &part{io.NewSectionReader(f, at.From, end-at.From), f}, nil
}

// open opens a part. It returns nil for the last part if that is still empty.
func (s *Store) open(n int) (*part, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, err := s.load()
	if err != nil {
		return nil, err
	}
	if n == x.Next {
		return s.lastLocked(x)
	}
	for _, p := range x.Parts {
		if p.N != n {
			continue
		}
		f, err := os.Open(s.name(n))
		if err != nil {
			return nil, fmt.Errorf("open transcript %d: %w", n, err)
		}
		return &part{io.NewSectionReader(f, 0, p.Bytes), f}, nil
	}
	if n < 1 || n > x.Next {
		return nil, fmt.Errorf("transcript %d: %w: the last is %d", n, ErrNone, x.Next)
	}
	return nil, fmt.Errorf("transcript %d: %w: the first is %d", n, ErrGone, x.first())
}

func (x *index) first() int {
	if len(x.Parts) > 0 {
		return x.Parts[0].N
	}
	return x.Next
}

// Last is the number of the last part, that of the log itself.
func (s *Store) Last() (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, err := s.load()
	if err != nil {
		return 0, err
	}
	return x.Next, nil
}

// Lines passes on the lines of a part after a line number.
func (s *Store) Lines(ctx context.Context, n, after int, each func(Line) error) error {
	p, err := s.open(n)
	if p == nil || err != nil {
		return err
	}
	defer p.Close() // only read, so an error doesn't matter
	in := bufio.NewReaderSize(p, 64<<10)
	var line []byte
	for number := 1; ; number++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		data, long, err := readLine(in, line[:0])
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read transcript %d: %w", n, err)
		}
		if line = data; long {
			data = nil
		}
		if number <= after {
			continue
		}
		if err := each(Line{N: n, Line: number, Data: data}); err != nil {
			return err
		}
	}
}

// readLine reads a whole line into buf. For a line that is too long it reports only that.
func readLine(in *bufio.Reader, buf []byte) (line []byte, long bool, err error) {
	for {
		piece, err := in.ReadSlice('\n')
		if len(buf)+len(piece) > MostLine {
			long, buf = true, buf[:0]
		}
		if !long {
			buf = append(buf, piece...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return buf, long, err
		}
		if n := len(buf); n > 0 && !long {
			buf = buf[:n-1]
		}
		return buf, long, nil
	}
}

// Since passes on every line after line `after` of part n, to the end of the log.
func (s *Store) Since(ctx context.Context, n, after int, each func(Line) error) error {
	for ; ; n, after = n+1, 0 {
		last, err := s.Last()
		if err != nil {
			return err
		}
		if err := s.Lines(ctx, n, after, each); err != nil || n >= last {
			return err
		}
	}
}
