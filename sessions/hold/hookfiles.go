package hold

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// hookFilesLimit bounds the payloads kept in files of their own, in bytes.
const hookFilesLimit = 32 << 20

// newHookFile is the name of a payload that has no number yet.
const newHookFile = "new-"

// hookFiles keeps payloads too large for a control record. Its owner
// serialises calls, but for write.
type hookFiles struct {
	dir   string
	limit int64
	kept  []segment // by record number
	total int64
}

// openHookFiles takes up what an earlier holder left. last is the control log's last record. A payload above it is of a record that was
// lost, and the next hook gets its number: it would be answered by another one's payload.
func openHookFiles(session string, limit int64, last uint64) (*hookFiles, error) {
	f := &hookFiles{dir: filepath.Join(session, hooksDir), limit: limit}
	names, err := os.ReadDir(f.dir)
	if errors.Is(err, os.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the payloads of hooks: %w", err)
	}
	for _, name := range names {
		if strings.HasPrefix(name.Name(), newHookFile) {
			os.Remove(filepath.Join(f.dir, name.Name()))
		}
	}
	if f.kept, err = statSegments(f.dir, hookExt); err != nil {
		return nil, fmt.Errorf("list the payloads of hooks: %w", err)
	}
	for _, s := range f.kept {
		f.total += s.size
	}
	for len(f.kept) > 0 && f.kept[len(f.kept)-1].first > last {
		f.forget(f.kept[len(f.kept)-1].first)
	}
	return f, nil
}

// write puts a payload into a file without a number, to be given to keep or
// to be removed. Any goroutine may call it.
func (f *hookFiles) write(payload []byte) (name string, err error) {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return "", fmt.Errorf("store a payload: %w", err)
	}
	file, err := os.CreateTemp(f.dir, newHookFile)
	if err != nil {
		return "", fmt.Errorf("store a payload: %w", err)
	}
	_, err = file.Write(payload)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		os.Remove(file.Name())
		return "", fmt.Errorf("store a payload: %w", err)
	}
	return file.Name(), nil
}

// keep makes the file the payload of record n and deletes the oldest beyond
// the limit.
func (f *hookFiles) keep(name string, n uint64, size int64) error {
	if err := os.Rename(name, segmentName(f.dir, n, hookExt)); err != nil {
		os.Remove(name)
		return fmt.Errorf("store a payload: %w", err)
	}
	f.kept = append(f.kept, segment{first: n, size: size})
	f.total += size
	for len(f.kept) > 1 && f.total > f.limit {
		f.dropOldest()
	}
	return nil
}

// forget drops the payload of record n, the newest, which was not written.
func (f *hookFiles) forget(n uint64) {
	if i := len(f.kept) - 1; i >= 0 && f.kept[i].first == n {
		os.Remove(segmentName(f.dir, n, hookExt))
		f.total -= f.kept[i].size
		f.kept = f.kept[:i]
	}
}

// trimBefore deletes what belongs to records before number first.
func (f *hookFiles) trimBefore(first uint64) {
	for len(f.kept) > 0 && f.kept[0].first < first {
		f.dropOldest()
	}
}

func (f *hookFiles) dropOldest() {
	os.Remove(segmentName(f.dir, f.kept[0].first, hookExt))
	f.total -= f.kept[0].size
	f.kept = append(f.kept[:0], f.kept[1:]...)
}
