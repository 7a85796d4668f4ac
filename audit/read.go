package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// Query selects lines. A zero field selects all.
type Query struct {
	Since    time.Time
	Identity func(Entry) bool // nil matches every caller
	Session  func(name, id string) bool
	Until    uint64 // the last line to read: later ones are still being written
}

// Read calls f with each matching line, oldest first, unchanged and without its line feed. The bytes are
// valid until f returns.
func Read(ctx context.Context, dir string, q Query, f func(line []byte) error) error {
	list, err := segments(dir)
	if err != nil {
		return err
	}
	for _, s := range list {
		if q.Until > 0 && s.first > q.Until {
			return nil
		}
		if err := readFile(ctx, s, q, f); err != nil {
			return err
		}
	}
	return nil
}

func readFile(ctx context.Context, s segment, q Query, f func(line []byte) error) error {
	in, err := os.Open(s.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil // removed in the meantime
	}
	if err != nil {
		return fmt.Errorf("read the audit log: %w", err)
	}
	defer in.Close()
	n := s.first - 1
	return lines(in, func(line []byte, _ bool) error {
		if n++; q.Until > 0 && n > q.Until {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		e, err := parse(line)
		if err != nil || !q.wants(e) {
			return nil // Verify reports malformed lines
		}
		return f(line)
	})
}

func (q Query) wants(e Entry) bool {
	switch {
	case e.Time.Before(q.Since):
		return false
	case q.Identity != nil && !q.Identity(e):
		return false
	case q.Session != nil && !q.Session(e.Session, e.ID):
		return false
	}
	return true
}
