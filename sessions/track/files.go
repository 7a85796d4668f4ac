package track

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"berth/detect"
	"berth/detect/tail"
	"berth/detect/watch"
)

// files are the agent's own files, which report its state in addition to hooks. The watcher says when to
// read them. They are also polled now and then, because notifications can be lost.
type files struct {
	state *watch.Subscription // of the live state file
	log   sessionLog          // the one that was named last
	left  []sessionLog        // those that were named before, the newest last: see logs.go

	conversation string // whose logs were read last

	unread      []unread  // logs that had no room
	unreadMore  bool      // there was no room for one of them
	noRoom      bool      // a log wasn't taken up, and the fold doesn't know that yet
	outside     string    // a path that the agent reported and that isn't read
	sought      string    // the conversation whose log is searched, or was found by a search
	soughtSince time.Time // the start of that search
}

// close ends the subscriptions.
func (f *files) close() {
	f.state.Stop()
	f.log.notes.Stop()
	for i := range f.left {
		f.left[i].notes.Stop()
	}
}

// sessionLog is the log that the agent keeps of its conversation.
type sessionLog struct {
	tail   *tail.Tail          // nil while its path is unknown
	notes  *watch.Subscription // notifies of its changes
	since  time.Time           // entries up to then are of the past and change nothing
	unread time.Time           // but of those after this time the fold learns which calls are open; zero: of none
	newest time.Time           // time of the newest entry that was read
	more   bool                // it, or one that is read beside it, was not read to its end

	conversation string // the conversation that it was named for; empty if that isn't known
	ledger       detect.Ledger
	renewals     uint64 // how often it was replaced or truncated
}

// savedLog is the log's data in the checkpoint.
type savedLog struct {
	Mark     tail.Mark     `json:"mark"`
	Since    time.Time     `json:"since"`
	Unread   time.Time     `json:"unread,omitzero"`
	Newest   time.Time     `json:"newest"`
	Ledger   detect.Ledger `json:"ledger"`
	Renewals uint64        `json:"renewals"`

	Conversation string `json:"conversation,omitempty"`
}

func (l *sessionLog) saved() *savedLog {
	if l.tail == nil {
		return nil
	}
	return &savedLog{Mark: l.tail.Mark(), Since: l.since, Unread: l.unread, Newest: l.newest, Renewals: l.renewals, Ledger: l.ledger, Conversation: l.conversation}
}

// restored returns the log at the checkpoint's position. s may be nil.
func (s *savedLog) restored(r reader) sessionLog {
	if s == nil {
		return sessionLog{}
	}
	l := sessionLog{since: s.Since, unread: s.Unread, newest: s.Newest, renewals: s.Renewals, ledger: s.Ledger, conversation: s.Conversation, more: true}
	l.open(s.Mark, r)
	return l
}

// findLog returns the conversation's log in any folder that the pattern of agent.Launch names.
func findLog(pattern, id string) string {
	folder, name, ok := strings.Cut(pattern, "/*/")
	if !ok || strings.ContainsAny(id, `*?[\`) {
		return ""
	}
	found, _ := fs.Glob(os.DirFS(folder), "*/"+named(name, id)) // a missing folder has none
	for _, file := range found {
		path := filepath.Join(folder, file)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// named puts a conversation's id into a pattern of agent.Launch.
func named(pattern, id string) string {
	return strings.NewReplacer("%s", id, "%.8s", id[:min(8, len(id))]).Replace(pattern)
}
