package sessions

import (
	"time"
)

// typing gathers the keystrokes of one attached client into one event.
type typing struct {
	open  bool
	by    By
	bytes int
	last  uint64 // control record of the newest keystroke
	first time.Time
}

// typingWindow is how long keystrokes are gathered before their event is
// written: a person's word or two, not a record of single keys.
const typingWindow = time.Second

func (t *typing) add(by By, n int, record uint64, now time.Time) {
	if !t.open {
		*t = typing{open: true, by: by, first: now}
	}
	t.bytes += n
	t.last = record
}

func (t *typing) due() (time.Time, bool) { return t.first.Add(typingWindow), t.open }

// flushTyping writes the event of gathered keystrokes when it is due, or now.
func (c *core) flushTyping(now time.Time, force bool) {
	at, open := c.typing.due()
	if !open || !force && now.Before(at) {
		return
	}
	t := c.typing
	c.typing = typing{}
	c.paced(t.last, "input", "attach", t.by, inputEvent{By: t.by, Bytes: t.bytes, Verb: "attach"})
}

// readTyped reads the records of keystrokes whose program has printed nothing
// since: the holder does not wake the server for them.
func (c *core) readTyped(now time.Time) {
	if !c.typedAt.IsZero() && !now.Before(c.typedAt.Add(typingWindow)) {
		c.typedAt, c.unread = time.Time{}, c.link != nil
	}
}
