package mail

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"berth/api"
	"berth/sessions/events"
	"berth/sessions/loop"
)

// Office has all messages of a server: the ledger and its files. Its methods are safe for concurrent use.
// Only the loop of the session that a message is for changes its status.
type Office struct {
	dir string
	now func() time.Time

	mu     sync.Mutex
	ledger Ledger
	kept   uint64 // number in lastFile
	bells  loop.Bells
}

// lastFile has the number of a message whose file is gone, so that no number is used twice.
const lastFile = "last"

// Open takes up the messages in a folder. The error says which files couldn't be read; the office works
// without those.
func Open(dir string, now func() time.Time) (*Office, error) {
	o := &Office{dir: dir, now: now}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the messages' folder: %w", err)
	}
	data, err := os.ReadFile(filepath.Join(dir, lastFile))
	if err == nil {
		_, err = fmt.Sscanf(string(data), "%d", &o.kept)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	case err != nil || o.kept > numberMost:
		o.kept, err = 0, fmt.Errorf("the newest message's number can't be read from %s: %w", lastFile, errors.Join(err, errors.New("it isn't a number")))
	}
	o.ledger.last = o.kept
	files, readErr := os.ReadDir(dir) // by name, and so by number
	failed := errors.Join(err, readErr)
	var found []*Message
	for _, file := range files {
		if filepath.Ext(file.Name()) != ".json" {
			continue
		}
		m, err := o.read(file.Name())
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("read the message in %s: %w", file.Name(), err))
			continue
		}
		found = append(found, m)
	}
	slices.SortStableFunc(found, func(a, b *Message) int { return compareCursors(a.Cursor, b.Cursor) })
	for _, m := range found {
		o.ledger.add(m, now())
	}
	return o, failed
}

// numberMost keeps a foreign file from carrying the numbering to its end.
const numberMost = 1 << 62

// read reads the message in a file of the folder. No other message gets the number of a file, also if it
// can't be read: that message would take its place.
func (o *Office) read(name string) (*Message, error) {
	var number uint64
	if _, err := fmt.Sscanf(name, "%d.json", &number); err != nil || number == 0 || number > numberMost || name != fileName(number) {
		return nil, errors.New("the name isn't one of a message's file")
	}
	o.ledger.last = max(o.ledger.last, number)
	data, err := os.ReadFile(filepath.Join(o.dir, name))
	if err != nil {
		return nil, err
	}
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, err
	}
	switch {
	case r.Number != number:
		return nil, fmt.Errorf("it has message %d", r.Number)
	case r.ID == "":
		return nil, errors.New("it names no session")
	case r.Status != "" && r.Status != Accepted && r.Status != Delivered && !r.Status.Final():
		return nil, fmt.Errorf("%q isn't a status", r.Status)
	}
	return r.message(), nil
}

// fileName is the name of a message's file.
func fileName(number uint64) string { return fmt.Sprintf("%020d.json", number) }

func (o *Office) file(m *Message) string {
	return filepath.Join(o.dir, fileName(m.Number))
}

func (o *Office) save(m *Message) error {
	data, err := json.Marshal(m.record())
	if err == nil {
		err = loop.ReplaceFile(o.file(m), data)
	}
	if err != nil {
		return fmt.Errorf("store message %d: %w", m.Number, err)
	}
	return nil
}

// remove deletes a message's file. The number of the newest is kept first.
func (o *Office) remove(m *Message) error {
	if o.kept < m.Number {
		if err := loop.ReplaceFile(filepath.Join(o.dir, lastFile), fmt.Appendln(nil, o.ledger.last)); err != nil {
			return err
		}
		o.kept = o.ledger.last
	}
	if err := os.Remove(o.file(m)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove message %d: %w", m.Number, err)
	}
	return nil
}

// Admit is Ledger.Admit. Mail.Accept or Withdraw follows.
func (o *Office) Admit(d Draft) (*Message, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ledger.Admit(d, o.now())
}

// Withdraw forgets a message that wasn't accepted.
func (o *Office) Withdraw(m *Message) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if m.Status == "" {
		o.ledger.withdraw(m)
		_ = o.remove(m) // a file without an event is removed at the next start
	}
}

// store puts a message that is being accepted on disk. Its event will be after head.
func (o *Office) store(m *Message, head uint64) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.catchUp(m.ID); err != nil {
		return err
	}
	m.Cursor = events.FormatCursor(head)
	return o.save(m)
}

// catchUp writes the files that couldn't be written when their messages moved. No newer message for that
// session is accepted before: Mail.Since gives the newest one's place, and the moves before it have to be
// on disk.
func (o *Office) catchUp(id string) error {
	for _, m := range o.ledger.to[id] {
		if m.behind {
			if err := o.save(m); err != nil {
				return err
			}
			m.behind = false
		}
	}
	return nil
}

// move gives a message its next status, which has its event, and reports whether it did.
func (o *Office) move(m *Message, step Step, channel *Channel, cursor string) (bool, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !m.Status.follows(step.Status) {
		return false, nil
	}
	m.Status, m.Way = step.Status, append(m.Way, step)
	if channel != nil && m.Channel == nil {
		m.Channel = channel
	}
	if step.Status == Accepted { // its place in the inbox is that of its event
		m.Cursor = cursor
		list := o.ledger.to[m.ID]
		list = append(slices.DeleteFunc(list, func(other *Message) bool { return other == m }), m)
		o.ledger.to[m.ID] = list
	}
	err := o.save(m)
	m.behind = err != nil
	for _, old := range o.ledger.old(m.ID) {
		err = errors.Join(err, o.remove(old))
		o.ledger.drop(old)
	}
	o.bells.Ring()
	return true, err
}

// list gives the messages for a session in the order of their acceptance.
func (o *Office) list(id string, want func(*Message) bool) (some []*Message) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, m := range o.ledger.to[id] {
		if want(m) {
			some = append(some, m)
		}
	}
	return some
}

// Find gives a message by its number.
func (o *Office) Find(number uint64) (Message, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	m, ok := o.ledger.byNumber[number]
	if !ok || m.Status == "" {
		return Message{}, false
	}
	return m.copy(), true
}

// pageBytes bounds the texts of a page. A page has at least one message.
const pageBytes = 1 << 20

// Page gives messages for a session, at most so many, the oldest first: those accepted after the cursor. Without a cursor
// they are the newest, or begin with the first one that waits if that is older. more says that there are later ones.
func (o *Office) Page(id string, since *uint64, most int) (page []Message, more bool) {
	after := uint64(0)
	if since != nil {
		after = *since
	}
	list := o.Inbox(id, after)
	if since == nil {
		first := max(0, len(list)-most)
		if waits := slices.IndexFunc(list, func(m Message) bool { return m.Status == Accepted }); waits >= 0 {
			first = min(first, waits)
		}
		list = list[first:]
	}
	size := 0
	for n, m := range list {
		if size += m.Bytes; n == most || n > 0 && size > pageBytes {
			return list[:n], true
		}
	}
	return list, false
}

// Inbox gives the messages for a session that were accepted after the cursor, the oldest first.
func (o *Office) Inbox(id string, since uint64) []Message {
	o.mu.Lock()
	defer o.mu.Unlock()
	list := []Message{}
	for _, m := range o.ledger.to[id] {
		if at, err := events.ParseCursor(m.Cursor); err == nil && at > since && m.Status != "" {
			list = append(list, m.copy())
		}
	}
	return list
}

// Replied says that a message is a reply of that kind of sender to another.
func (o *Office) replied(number uint64, kind Kind) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, m := range o.ledger.byNumber {
		if m.ReplyTo != nil && *m.ReplyTo == number && m.From.Kind == kind {
			return true
		}
	}
	return false
}

// Subscribe gives a channel that holds one signal after a message has changed.
func (o *Office) Subscribe() (changed <-chan struct{}, stop func()) { return o.bells.Add() }

// goneFor is how long the messages for a removed session are kept.
const goneFor = 24 * time.Hour

// Sweep removes the messages for sessions that are gone, after a while. One that was on its way when its
// session went is refused; its session has no events any more.
func (o *Office) Sweep(exists func(id string) bool) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	var failed error
	for _, m := range o.ledger.byNumber {
		switch {
		case exists(m.ID):
		case m.Status == "" && m.Cursor == "": // its sender gets the answer that the session is gone
		case m.Status == "": // of a server that was killed before its sender had an answer
			failed = errors.Join(failed, o.remove(m))
			o.ledger.withdraw(m)
		case m.Status == Accepted:
			m.Status, m.Way = Refused, append(m.Way, Step{Status: Refused, At: api.At(o.now()), Why: "the session was removed"})
			failed = errors.Join(failed, o.save(m))
		case o.now().Sub(m.since()) >= goneFor:
			failed = errors.Join(failed, o.remove(m))
			o.ledger.drop(m)
		}
	}
	return failed
}

func compareCursors(a, b string) int {
	x, _ := events.ParseCursor(a) // without one: 0
	y, _ := events.ParseCursor(b)
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}
