package audit

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// segment is one file of the log, named by the number of its first line.
type segment struct {
	first uint64
	path  string
	size  int64
}

const segmentSuffix = ".jsonl"

// segmentPath pads the number, so that names sort as numbers do.
func segmentPath(dir string, first uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%020d", first)+segmentSuffix)
}

// segments lists the log's files, oldest first.
func segments(dir string) ([]segment, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list the audit log: %w", err)
	}
	var out []segment
	for _, e := range entries {
		digits, ok := strings.CutSuffix(e.Name(), segmentSuffix)
		first, err := strconv.ParseUint(digits, 10, 64)
		if !ok || err != nil || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, os.ErrNotExist) {
			continue // removed in the meantime
		}
		if err != nil {
			return nil, fmt.Errorf("list the audit log: %w", err)
		}
		out = append(out, segment{first, filepath.Join(dir, e.Name()), info.Size()})
	}
	slices.SortFunc(out, func(a, b segment) int {
		switch {
		case a.first < b.first:
			return -1
		case a.first > b.first:
			return 1
		}
		return 0
	})
	return out, nil
}

// lines calls f with each line of r, without its line feed; whole is false for a last line without one. A
// line longer than any that is written is passed once, cut.
func lines(r io.Reader, f func(line []byte, whole bool) error) error {
	in := bufio.NewReaderSize(r, maxLine+1)
	skipping := false
	for {
		line, err := in.ReadSlice('\n')
		switch {
		case err == nil && skipping:
			skipping = false
			continue
		case errors.Is(err, bufio.ErrBufferFull):
			if skipping {
				continue
			}
			skipping = true
		case errors.Is(err, io.EOF):
			if len(line) == 0 || skipping {
				return nil
			}
			return f(line, false)
		case err != nil:
			return err
		}
		whole := err == nil
		if whole {
			line = line[:len(line)-1]
		}
		if err := f(line, whole); err != nil {
			return err
		}
	}
}

// firstTime is when the first line of a file was written.
func firstTime(path string) (time.Time, error) {
	f, err := os.Open(path)
	if err != nil {
		return time.Time{}, fmt.Errorf("read the audit log: %w", err)
	}
	defer f.Close()
	var at time.Time
	found := errors.New("found")
	err = lines(f, func(line []byte, _ bool) error {
		e, err := parse(line)
		if err != nil {
			return err
		}
		at = e.Time.Time
		return found
	})
	if !errors.Is(err, found) {
		return time.Time{}, errors.Join(fmt.Errorf("%s has no first line", path), err)
	}
	return at, nil
}
