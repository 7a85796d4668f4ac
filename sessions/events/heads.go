package events

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
)

// head is the position of one session.
type head struct {
	Seq    uint64 `json:"seq"`
	Cause  uint64 `json:"cause_record,omitempty"`
	Cursor uint64 `json:"cursor,omitempty"` // of its last event
	Forgot bool   `json:"forgot,omitempty"` // the session is removed: drop it with its last event
}

// heads are the positions of all sessions before a segment.
type heads struct {
	first    uint64 // of the segment
	Cursor   uint64 `json:"cursor"` // the last given out
	Sessions map[string]head
}

// apply takes in one line; order does not matter, numbers only grow.
func (h *heads) apply(line Line) {
	h.Cursor = max(h.Cursor, line.Cursor)
	for id, lost := range line.lost {
		h.raise(id, lost)
	}
	if line.ID != "" {
		h.raise(line.ID, head{Seq: line.Seq, Cause: line.Cause, Cursor: line.Cursor})
	}
}

func (h *heads) raise(id string, to head) {
	at := h.Sessions[id]
	at.Seq = max(at.Seq, to.Seq)
	at.Cause = max(at.Cause, to.Cause)
	if to.Cursor > at.Cursor {
		at.Cursor, at.Forgot = to.Cursor, false
	}
	h.Sessions[id] = at
}

// before is a copy for the segment that begins at first. It drops removed sessions that have no event
// from oldest on: ids are never used again.
func (h *heads) before(first, oldest uint64) heads {
	maps.DeleteFunc(h.Sessions, func(_ string, at head) bool {
		return at.Forgot && at.Cursor < oldest
	})
	return heads{first: first, Cursor: h.Cursor, Sessions: maps.Clone(h.Sessions)}
}

func headsName(dir string, first uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%020d%s", first, headsEnding))
}

const (
	headsEnding = ".heads.json"
	asideEnding = ".aside"
)

type headsFile struct {
	Version  int             `json:"version"`
	Cursor   string          `json:"cursor"`
	Sessions map[string]head `json:"sessions"`
}

// save writes the heads aside and renames them into place.
func (h heads) save(dir string) error {
	b, err := json.Marshal(headsFile{Version: 1, Cursor: FormatCursor(h.Cursor), Sessions: h.Sessions})
	if err != nil {
		return fmt.Errorf("encode heads: %w", err)
	}
	name := headsName(dir, h.first)
	aside := name + asideEnding
	if err := writeSynced(aside, append(b, '\n')); err != nil {
		_ = os.Remove(aside) // a half file is useless; Open removes what remains
		return fmt.Errorf("write heads: %w", err)
	}
	if err := os.Rename(aside, name); err != nil {
		return fmt.Errorf("put heads in place: %w", err)
	}
	return nil
}

func writeSynced(name string, b []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	return err
}

func loadHeads(dir string, first uint64) (heads, error) {
	b, err := os.ReadFile(headsName(dir, first))
	if err != nil {
		return heads{}, fmt.Errorf("read heads: %w", err)
	}
	var f headsFile
	if err := json.Unmarshal(b, &f); err != nil {
		return heads{}, fmt.Errorf("read heads %s: %w", headsName(dir, first), err)
	}
	cursor, err := ParseCursor(f.Cursor)
	if err != nil || f.Version != 1 {
		return heads{}, fmt.Errorf("read heads %s: version %d, %w", headsName(dir, first), f.Version, errForm)
	}
	if f.Sessions == nil {
		f.Sessions = map[string]head{}
	}
	return heads{first: first, Cursor: cursor, Sessions: f.Sessions}, nil
}
