package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Reader reads the lines of a log in order while the log grows. It belongs to one goroutine.
type Reader struct {
	dir  string
	last uint64 // number of the last line that was returned

	file *os.File // nil: none is open
	name uint64   // number of the file's first line
	next uint64   // number of the line at the start of buf
	buf  []byte   // what was read and isn't returned
	off  int64    // in the file, of what follows buf
}

// ReaderAfter reads the lines after that number.
func (l *Log) ReaderAfter(n uint64) *Reader { return &Reader{dir: l.dir, last: n} }

// Grew is sent to when there may be new lines. It holds one wake, and is for one receiver.
func (l *Log) Grew() <-chan struct{} { return l.grew }

// Next returns the next line and its number, which is more than one higher than the last where old files
// were removed. The bytes are valid until the next call. The error is io.EOF at the end of the
// log so far.
func (r *Reader) Next() (uint64, []byte, error) {
	for {
		n, line, err := r.read()
		switch {
		case errors.Is(err, io.EOF):
			// The log has ended this file once there is a later one; what it wrote before is read first.
			later, err := r.later()
			if err != nil {
				return 0, nil, err
			}
			if later == nil {
				return 0, nil, io.EOF
			}
			if n, line, err = r.read(); errors.Is(err, io.EOF) {
				if err := r.open(*later); err != nil {
					return 0, nil, err
				}
				continue
			} else if err != nil {
				return 0, nil, err
			}
		case err != nil:
			return 0, nil, err
		}
		if n > r.last {
			r.last = n
			return n, line, nil
		}
	}
}

// Close closes the open file. Next opens it again.
func (r *Reader) Close() {
	if r.file != nil {
		_ = r.file.Close() // it was only read
		r.file = nil
	}
}

// read returns the next line of the open file.
func (r *Reader) read() (uint64, []byte, error) {
	if r.file == nil {
		return 0, nil, io.EOF
	}
	for {
		if line, rest, whole := bytes.Cut(r.buf, []byte("\n")); whole {
			n := r.next
			r.buf, r.next = rest, n+1
			return n, line, nil
		}
		part := make([]byte, len(r.buf)+maxLine)
		got, err := r.file.ReadAt(part[copy(part, r.buf):], r.off)
		r.buf, r.off = part[:len(r.buf)+got], r.off+int64(got)
		if got == 0 {
			if errors.Is(err, io.EOF) {
				return 0, nil, io.EOF
			}
			return 0, nil, fmt.Errorf("read the audit log: %w", err)
		}
	}
}

// later is the file to go on with after the open one; nil if that is the newest. Without an open file it
// is the one with the first line that is wanted.
func (r *Reader) later() (*segment, error) {
	list, err := segments(r.dir)
	if err != nil {
		return nil, err
	}
	var found *segment
	for i, s := range list {
		if r.file != nil && s.first > r.name && s.first >= r.next {
			return &list[i], nil
		}
		if r.file == nil && (found == nil || s.first <= r.last+1) {
			found = &list[i]
		}
	}
	return found, nil
}

func (r *Reader) open(s segment) error {
	f, err := os.Open(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		r.Close()
		return nil // removed in the meantime: look again
	}
	if err != nil {
		return fmt.Errorf("read the audit log: %w", err)
	}
	r.Close()
	r.file, r.name, r.next, r.buf, r.off = f, s.first, s.first, nil, 0
	return nil
}
