package hold

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// ReadTimes calls fn for each time mark beside the output, in order: the
// bytes from offset on came at that time. There is at most one each 10 ms.
// Marks that run backwards or make no sense are left out.
func ReadTimes(dir string, fn func(at time.Time, offset int64) error) error {
	dir = filepath.Join(dir, outputDir)
	firsts, err := listSegments(dir, timeExt)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	last := int64(-1)
	for _, first := range firsts {
		f, err := os.Open(segmentName(dir, first, timeExt))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		err = readMarks(f, func(at time.Time, offset int64) error {
			if offset < int64(first) || offset <= last {
				return nil
			}
			last = offset
			return fn(at, offset)
		})
		f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// readMarks reads one file. The last line counts only with its newline.
func readMarks(f *os.File, fn func(time.Time, int64) error) error {
	r := bufio.NewReader(f)
	for {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil { // io.EOF, with or without a torn line before it
			return nil
		}
		at, offset, ok := parseMark(bytes.TrimSuffix(line, []byte("\n")))
		if !ok {
			continue
		}
		if err := fn(at, offset); err != nil {
			return err
		}
	}
}

func parseMark(line []byte) (time.Time, int64, bool) {
	millis, offset, ok := bytes.Cut(line, []byte(" "))
	if !ok {
		return time.Time{}, 0, false
	}
	m, err := strconv.ParseInt(string(millis), 10, 64)
	if err != nil {
		return time.Time{}, 0, false
	}
	o, err := strconv.ParseInt(string(offset), 10, 64)
	if err != nil || o < 0 {
		return time.Time{}, 0, false
	}
	return time.UnixMilli(m), o, true
}
