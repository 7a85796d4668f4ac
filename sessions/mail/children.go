package mail

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"berth/sessions/events"
	"berth/sessions/loop"
)

// childrenFile has the place in the event log up to which sessions were sent what they are to know of their children.
const childrenFile = "children"

// Place is that place; ok is false in a new folder.
func (o *Office) Place() (cursor uint64, ok bool) {
	data, err := os.ReadFile(filepath.Join(o.dir, childrenFile))
	if err != nil {
		return 0, false
	}
	cursor, err = events.ParseCursor(strings.TrimSpace(string(data)))
	return cursor, err == nil
}

// KeepPlace keeps it for the next server.
func (o *Office) KeepPlace(cursor uint64) error {
	if err := loop.ReplaceFile(filepath.Join(o.dir, childrenFile), []byte(events.FormatCursor(cursor)+"\n")); err != nil {
		return fmt.Errorf("store which events of children were passed on: %w", err)
	}
	return nil
}

// Passed says that there is a message about an event. A server that was killed after it had accepted the message
// didn't keep the event's place.
func (o *Office) Passed(event string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, m := range o.ledger.byNumber {
		if m.Event != nil && *m.Event == event && m.Status != "" {
			return true
		}
	}
	return false
}
