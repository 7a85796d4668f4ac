package track

import (
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"berth/detect/tail"
)

// Any process of the session can send a hook, which may name another log. So a log that was named once for the conversation is read as long as
// the agent has that conversation, also when another one is named: what the agent writes is in one of them. A log of another conversation isn't
// read, because another process may go on with that. Its position is kept. When it is named again, of the entries after that position the fold
// learns which calls are open, and only those from then on change more. So it does with the entries since the program's start
// of a log that is named first while the agent runs.

// logsKept bounds the logs whose positions are kept. Without room the oldest one of another conversation gives way. If all are of this one, the
// new one isn't read, and no key answers a dialog that may be of a call there.
const logsKept = 16

// reader is what is needed to read logs.
type reader struct {
	logs tail.Below
	old  func(line []byte, since time.Time) bool // whether a line isn't later than since
}

// open starts to read at a mark.
func (l *sessionLog) open(m tail.Mark, r reader) {
	since := l.since
	if !l.unread.IsZero() {
		since = l.unread
	}
	l.tail = tail.Resume(r.logs, m, func(line []byte) bool { return r.old(line, since) })
}

// goOn goes on at the position of a log that wasn't read for a time. Its entries up to since are of the past, and all after its position are unread.
func (l *sessionLog) goOn(since time.Time, r reader) {
	if l.unread.IsZero() {
		l.unread = l.since
	}
	l.since, l.newest = since, since
	l.open(l.tail.Mark(), r)
}

// reads are the logs that are read while the agent has the conversation, the one that was named last at the end.
func (f *files) reads(conversation string) iter.Seq[*sessionLog] {
	return func(yield func(*sessionLog) bool) {
		for i := range f.left {
			if l := &f.left[i]; l.conversation == conversation && !yield(l) {
				return
			}
		}
		if l := &f.log; l.tail != nil && (l.conversation == conversation || l.conversation == "") {
			yield(l)
		}
	}
}

// returns goes on with the logs of a conversation, if another one was the last.
func (f *files) returns(conversation string, since time.Time, r reader) {
	if f.conversation == conversation {
		return
	}
	f.conversation = conversation
	f.noRoom = f.noRoom || f.lacks(conversation)
	if f.log.tail != nil && f.log.conversation == conversation {
		f.log.goOn(since, r)
	}
	for i := range f.left {
		if l := &f.left[i]; l.conversation == conversation {
			l.goOn(since, r)
		}
	}
}

// follow makes a log the one that was named last. Its entries up to since are of the past. ok is false if there is no room for it.
func (f *files) follow(path, conversation string, since, started time.Time, r reader) (ok bool) {
	is := func(l sessionLog) bool { return l.tail.Mark().Path == path }
	if f.log.tail != nil && is(f.log) {
		f.log.conversation, f.conversation = conversation, conversation
		return true
	}
	next := sessionLog{since: since, newest: since}
	if at := slices.IndexFunc(f.left, is); at >= 0 {
		next = f.left[at]
		f.left = slices.Delete(f.left, at, at+1)
		if next.conversation != conversation {
			next.goOn(since, r)
		}
	} else {
		if !f.makeRoom(conversation) {
			f.forgets(path, conversation)
			return false
		}
		if started.Before(since) {
			next.unread = started
		}
		next.open(tail.Mark{Path: path}, r)
	}
	f.unread = slices.DeleteFunc(f.unread, func(u unread) bool { return u.Path == path })
	f.noRoom = f.noRoom && f.lacks(conversation)
	if f.log.tail != nil {
		f.left = append(f.left, f.log)
	}
	next.conversation, next.more = conversation, true
	f.log, f.conversation = next, conversation
	return true
}

// makeRoom reports whether there is room for one log more.
func (f *files) makeRoom(conversation string) bool {
	if len(f.left) < logsKept-1 {
		return true
	}
	at := slices.IndexFunc(f.left, func(l sessionLog) bool { return l.conversation != conversation })
	if at < 0 {
		return false
	}
	f.forgets(f.left[at].tail.Mark().Path, f.left[at].conversation)
	f.left[at].notes.Stop()
	f.left = slices.Delete(f.left, at, at+1)
	return true
}

// unread is a log that had no room.
type unread struct{ Path, Conversation string }

// unreadKept bounds those logs. After one more, each conversation may lack one.
const unreadKept = 256

// forgets keeps that a log isn't read.
func (f *files) forgets(path, conversation string) {
	one := unread{path, conversation}
	switch {
	case slices.Contains(f.unread, one):
	case len(f.unread) < unreadKept:
		f.unread = append(f.unread, one)
	default:
		f.unreadMore = true
	}
}

// lacks reports whether a log of the conversation had no room, and wasn't named again.
func (f *files) lacks(conversation string) bool {
	return f.unreadMore || slices.ContainsFunc(f.unread, func(u unread) bool { return u.Conversation == conversation })
}

// savedUnread is what the checkpoint keeps of them.
type savedUnread struct {
	Logs []unread `json:"logs"`
	More bool     `json:"more,omitempty"`
}

func (f *files) savedUnread() *savedUnread {
	if len(f.unread) == 0 {
		return nil
	}
	return &savedUnread{f.unread, f.unreadMore}
}

// savedLeft is what the checkpoint keeps of the logs that aren't the last one.
func (f *files) savedLeft() (all []savedLog) {
	for i := range f.left {
		s := f.left[i].saved()
		s.Ledger.Answer, s.Ledger.Words = "", ""
		all = append(all, *s)
	}
	return all
}

// isLogOf reports whether the path may be the conversation's, by the pattern of agent.Launch. It compares what comes after the pattern's
// last folder of any name.
func isLogOf(pattern, id, path string) bool {
	_, name, ok := strings.Cut(pattern, "/*/")
	if !ok || !strings.Contains(name, "%") {
		return true
	}
	if strings.ContainsAny(id, `*?[\/`) {
		return false
	}
	for strings.HasPrefix(name, "*/") {
		name = name[len("*/"):]
	}
	parts := strings.Split(path, "/")
	last := strings.Join(parts[max(0, len(parts)-1-strings.Count(name, "/")):], "/")
	matches, err := filepath.Match(named(name, id), last)
	return err == nil && matches
}
