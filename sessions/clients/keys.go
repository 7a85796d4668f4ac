package clients

import (
	"bytes"
	"encoding/json"
	"time"

	"berth/sessions/loop"
)

// typing gathers the keystrokes of one attached client into one event.
type typing struct {
	open  bool
	by    loop.By
	bytes int
	last  uint64 // control record of the newest keystroke
	first time.Time
}

// typingWindow is how long keystrokes are gathered before their event is
// written: a person's word or two, not a record of single keys.
const typingWindow = time.Second

func (t *typing) add(by loop.By, n int, record uint64, now time.Time) {
	if !t.open {
		*t = typing{open: true, by: by, first: now}
	}
	t.bytes += n
	t.last = record
}

// due is when the event is written; zero: nothing is gathered.
func (t *typing) due() time.Time {
	if !t.open {
		return time.Time{}
	}
	return t.first.Add(typingWindow)
}

// input is when something was typed, and by whom last.
type input struct {
	unread time.Time // since when there are keystrokes whose records are unread; zero: none are
	last   time.Time // of any kind
	person time.Time // when a person typed last, at a terminal or by input and keys
	raw    []byte    // the mark of the last record, and
	mark   loop.Mark // what it says
}

// typed notes what a member typed. keys: a person did, which a report of the window isn't.
func (in *input) typed(at time.Time, keys bool) {
	if in.unread.IsZero() {
		in.unread = at
	}
	if keys {
		in.person = at
	}
}

// due is when the records of keystrokes are read; zero: there are none.
func (in *input) due() time.Time {
	if in.unread.IsZero() {
		return time.Time{}
	}
	return in.unread.Add(typingWindow)
}

// read gives the mark of an input record. A row of keys has one mark, which is read once.
func (in *input) read(mark json.RawMessage) loop.Mark {
	if in.raw == nil || !bytes.Equal(mark, in.raw) {
		in.raw, in.mark = mark, loop.ReadMark(mark)
	}
	return in.mark
}
