// Package events is the log of everything that happened on the server: one
// order for all sessions, kept in plain files, read by position.
//
// A folder holds segments named by the first cursor they may hold, one JSON
// object a line, and beside each segment the heads as they were before it: the
// last number and the last cause of every session. Opening the log reads the
// newest heads and the segments from there on, as a rule one.
//
// An event is in its file before a reader can see it, so that a kill of the
// process takes nothing that was seen. When the files cannot be written, events
// are kept in memory and seen from there, and are written in order once it
// works again; the part that did not fit becomes a gap in the log. Segments aren't
// synced, so a power loss may take the newest events.
//
// Retention takes the oldest events, of the sessions with most events first (thin.go), and a gap says what is gone.
//
// A Reader follows the log from a cursor. The verb watch prints what one reads, filtered by target
// and type; its lines snapshot, live and heartbeat aren't in the log.
package events

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// TypeGap is the type of the line that stands for events that are gone.
const TypeGap = "gap"

// Errors that callers branch on.
var (
	// ErrClosed is what Append returns on a closed log, and Next once it has
	// given everything a closed log had.
	ErrClosed = errors.New("the event log is closed")
	// ErrNotFound says that there is no event of that number yet.
	ErrNotFound = errors.New("no such event")
	// ErrGone says that the event existed and was removed.
	ErrGone = errors.New("the event is gone")
)

// Event is one thing that happened, as its source hands it in.
type Event struct {
	Cursor  uint64    // filled by Append: the server's running number, from 1
	Type    string    // one of the types of the contract, such as state_change
	Session string    // the session's name at that time, empty for none
	ID      string    // the session's id, empty for none
	Seq     uint64    // filled by Append: the session's own number, from 1; 0 without ID
	Time    time.Time // filled by Append unless set; printed in UTC with milliseconds
	Cause   uint64    // number of the journal record that caused it, 0 for none

	// Data marshals to a JSON object, or is nil. Its fields follow those of the
	// header in the same object and must not have a header field's name.
	Data any
}

// Line is an event as it is read back.
type Line struct {
	Cursor  uint64
	Type    string
	Session string
	ID      string
	Seq     uint64
	Time    time.Time
	Cause   uint64
	From    uint64 // of a gap: the first cursor that is gone; Cursor is the last
	Raw     []byte // the JSON object without a newline; shared, never to be changed

	lost map[string]head // of a gap in a file: heads of the sessions that lost events
}

// MayMiss reports whether a gap may stand for events of a session that wanted is true for. If it isn't known which sessions
// lost events, it may stand for those of any.
func (l Line) MayMiss(wanted func(id string) bool) bool {
	for id := range l.lost {
		if wanted(id) {
			return true
		}
	}
	return l.lost == nil
}

// FormatCursor writes a cursor as users see it, such as e918273.
func FormatCursor(n uint64) string { return "e" + strconv.FormatUint(n, 10) }

// ParseCursor reads what FormatCursor wrote.
func ParseCursor(s string) (uint64, error) {
	digits, ok := strings.CutPrefix(s, "e")
	n, err := strconv.ParseUint(digits, 10, 64)
	if !ok || err != nil || n > maxCursor {
		return 0, fmt.Errorf("cursor %q is not of the form e123", s)
	}
	return n, nil
}

// maxCursor keeps a damaged line from carrying the numbering to its end.
const maxCursor = 1 << 62
