// Package transcript keeps what an agent's conversations were before they were
// cleared or compacted: parts of its session log, numbered from 1. Each entry
// of the log is in exactly one part, in its order; the last part is the log
// itself, from where the one before ends.
package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"berth/api"
	"berth/detect/tail"
)

const (
	indexName = "index.json"
	// mostParts limits the number of parts of a session.
	mostParts = 1000
	// DefaultBytes limits the size of all parts of a session.
	DefaultBytes = 256 << 20
	// MostPart limits one part. Copying and counting a longer log would take long and could fill the disk: an agent
	// can have a log of any size that takes no disk space itself (a sparse file).
	MostPart = 1 << 30
)

// Why a part ends.
const (
	ReasonClear   = "clear"   // the conversation was cleared
	ReasonCompact = "compact" // it was compacted
	ReasonLeft    = "left"    // the agent switched to another one
)

// Part is a part that was saved.
type Part struct {
	N            int      `json:"n"`
	Bytes        int64    `json:"bytes"`
	Lines        int      `json:"lines"`
	Reason       string   `json:"reason"`
	Conversation string   `json:"conversation"`
	Saved        api.Time `json:"saved"`
}

// live is the log that the agent writes now.
type live struct {
	Path         string `json:"path"`
	File         string `json:"file"` // its id; empty before it was seen
	From         int64  `json:"from"` // start of the part that is not saved yet
	Conversation string `json:"conversation"`
	Cleared      bool   `json:"cleared"` // the agent reported that it clears the conversation
}

// index is the file next to the parts.
type index struct {
	Applied uint64 `json:"applied"` // the last record that changed it
	Next    int    `json:"next"`    // number of the next part
	Parts   []Part `json:"parts"`
	Live    live   `json:"live"`
}

// Word is a report of an agent's hook about its log.
type Word struct {
	Record       uint64 `json:"record"` // number of the hook's record; reports are handled once and in order
	Path         string `json:"path"`
	Conversation string `json:"conversation"`
	Clears       bool   `json:"clears"`   // the agent is about to clear the conversation
	Compacts     bool   `json:"compacts"` // the agent is about to compact it
}

// Store has the parts of one session. Its methods are safe for concurrent use.
type Store struct {
	dir  string     // the folder of the parts
	logs tail.Below // the folder of the agent's logs
	most int64
	now  func() api.Time

	mu    sync.Mutex
	index *index // nil before it was read
}

// Open returns the store in dir, which need not exist yet, for logs below a folder.
func Open(dir string, logs tail.Below, most int64, now func() api.Time) *Store {
	if most <= 0 {
		most = DefaultBytes
	}
	return &Store{dir: dir, logs: logs, most: most, now: now}
}

// Observe handles a report about the log, and saves the part that ends with it. It ignores a report that was handled
// before. After an error, Observed says whether the report was handled.
func (s *Store) Observe(w Word) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, err := s.load()
	if err != nil || w.Record <= x.Applied {
		return err
	}
	var odd error // about a log that can't be read; the next one may be fine
	if l := &x.Live; l.Path != w.Path {
		if l.Path != "" {
			reason := ReasonLeft
			if l.Cleared {
				reason = ReasonClear
			}
			if odd, err = s.save(x, reason); err != nil {
				return err
			}
		}
		if !s.logs.Holds(w.Path) {
			x.Applied = w.Record
			return errors.Join(odd, fmt.Errorf("the session log %s: %w in %s", w.Path, tail.ErrOutside, s.logs.Folder), s.keep(x))
		}
		x.Live = live{Path: w.Path, Conversation: w.Conversation}
	}
	if x.Live.Cleared = w.Clears; w.Compacts {
		also, err := s.save(x, ReasonCompact)
		if odd = errors.Join(odd, also); err != nil {
			return err
		}
	}
	x.Applied = w.Record
	return errors.Join(odd, s.keep(x))
}

// Observed reports whether a report was handled. If not, it must come again: the disk may have been full.
func (s *Store) Observed(w Word) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, err := s.load()
	return err == nil && w.Record <= x.Applied
}

// save copies the unsaved rest of the log into a new part. It makes no part if the rest is empty. odd is the error if
// the log can't be read at all.
func (s *Store) save(x *index, reason string) (odd, err error) {
	f, err := s.logs.OpenFile(x.Live.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // the agent never wrote it
	}
	if err != nil {
		return err, nil
	}
	defer f.Close() // only read, so an error doesn't matter
	end, err := x.Live.reach(f)
	if err != nil {
		return err, nil
	}
	if end <= x.Live.From {
		return nil, nil
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the transcripts: %w", err)
	}
	p := Part{N: x.Next, Bytes: end - x.Live.From, Reason: reason, Conversation: x.Live.Conversation, Saved: s.now()}
	if p.Lines, err = copyPart(s.name(p.N), io.NewSectionReader(f, x.Live.From, p.Bytes)); err != nil {
		return nil, err
	}
	x.Parts, x.Next, x.Live.From = append(x.Parts, p), x.Next+1, end
	s.drop(x)
	return nil, nil
}

// reach is the end of the last whole line. A log that was replaced or truncated counts as another one, and is read
// from its start.
func (l *live) reach(f *os.File) (int64, error) {
	id, size, err := fileID(f)
	if err != nil {
		return 0, err
	}
	if l.File != "" && l.File != id || size < l.From {
		l.From = 0
	}
	l.File = id
	if size-l.From > MostPart {
		return 0, api.Errorf(api.CodeLimit, "%s has %d bytes that no transcript has yet: the limit is %d", l.Path, size-l.From, MostPart)
	}
	buf := make([]byte, 64<<10)
	for end := size; end > l.From; {
		n := min(int64(len(buf)), end-l.From)
		if _, err := f.ReadAt(buf[:n], end-n); err != nil {
			return 0, fmt.Errorf("read %s: %w", l.Path, err)
		}
		for i := n - 1; i >= 0; i-- {
			if buf[i] == '\n' {
				return end - n + i + 1, nil
			}
		}
		end -= n
	}
	return l.From, nil
}

// copyPart writes a part to a temporary file and renames it, so that a killed server leaves all of it or nothing.
func copyPart(path string, from io.Reader) (lines int, err error) {
	temp := path + ".new"
	out, err := os.OpenFile(temp, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return 0, fmt.Errorf("save a transcript: %w", err)
	}
	count := &lineCounter{}
	_, err = io.Copy(out, io.TeeReader(from, count))
	if err = errors.Join(err, out.Close()); err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp) // a full disk leaves a torn file
		return 0, fmt.Errorf("save a transcript: %w", err)
	}
	return count.lines, nil
}

type lineCounter struct{ lines int }

func (c *lineCounter) Write(p []byte) (int, error) {
	c.lines += bytes.Count(p, []byte{'\n'})
	return len(p), nil
}

// drop deletes the oldest parts above the limits, but never the newest part.
func (s *Store) drop(x *index) {
	var total int64
	for _, p := range x.Parts {
		total += p.Bytes
	}
	for len(x.Parts) > 1 && (total > s.most || len(x.Parts) > mostParts) {
		_ = os.Remove(s.name(x.Parts[0].N)) // the index no longer has it
		total -= x.Parts[0].Bytes
		x.Parts = x.Parts[1:]
	}
}

func (s *Store) name(n int) string { return filepath.Join(s.dir, fmt.Sprintf("%d.jsonl", n)) }

// load reads the index. The caller holds mu.
func (s *Store) load() (*index, error) {
	if s.index != nil {
		return s.index, nil
	}
	x := &index{Next: 1}
	data, err := os.ReadFile(filepath.Join(s.dir, indexName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("read the list of transcripts: %w", err)
	default:
		if err := json.Unmarshal(data, x); err != nil {
			return nil, fmt.Errorf("read the list of transcripts: %w", err)
		}
	}
	s.index = x
	return x, nil
}

// keep writes the index to a temporary file and renames it. If that fails, the next server handles the same reports
// again.
func (s *Store) keep(x *index) error {
	data, err := json.Marshal(x)
	if err == nil {
		err = os.MkdirAll(s.dir, 0o700)
	}
	path := filepath.Join(s.dir, indexName)
	if err == nil {
		err = os.WriteFile(path+".new", data, 0o600)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		s.index = nil
		return fmt.Errorf("keep the list of transcripts: %w", err)
	}
	return nil
}
