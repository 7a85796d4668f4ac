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
	log   sessionLog
}

// close ends the subscriptions.
func (f *files) close() {
	f.state.Stop()
	f.log.notes.Stop()
}

// sessionLog is the log that the agent keeps of its conversation.
type sessionLog struct {
	tail   *tail.Tail          // nil while its path is unknown
	notes  *watch.Subscription // notifies of its changes
	since  time.Time           // entries up to then are of the past and change nothing
	newest time.Time           // time of the newest entry that was read
	more   bool                // it was not read to its end

	ledger      detect.Ledger
	renewals    uint64    // how often it was replaced or truncated
	outside     string    // a path that the agent reported outside of its own folders
	sought      string    // the conversation whose log is searched, or was found by a search
	soughtSince time.Time // the start of that search
}

// savedLog is the log's data in the checkpoint.
type savedLog struct {
	Mark     tail.Mark     `json:"mark"`
	Since    time.Time     `json:"since"`
	Newest   time.Time     `json:"newest"`
	Ledger   detect.Ledger `json:"ledger"`
	Renewals uint64        `json:"renewals"`
}

func (l *sessionLog) saved() *savedLog {
	if l.tail == nil {
		return nil
	}
	return &savedLog{Mark: l.tail.Mark(), Since: l.since, Newest: l.newest, Renewals: l.renewals, Ledger: l.ledger}
}

// restored returns the log at the checkpoint's position. s may be nil.
func (s *savedLog) restored(logs tail.Below, old func(line []byte) bool) sessionLog {
	if s == nil {
		return sessionLog{}
	}
	return sessionLog{tail: tail.Resume(logs, s.Mark, old), since: s.Since, newest: s.Newest, renewals: s.Renewals, ledger: s.Ledger, more: true}
}

// findLog returns the conversation's log in any folder that the pattern of agent.Launch names.
func findLog(pattern, id string) string {
	folder, name, ok := strings.Cut(pattern, "/*/")
	if !ok || strings.ContainsAny(id, `*?[\`) {
		return ""
	}
	name = strings.NewReplacer("%s", id, "%.8s", id[:min(8, len(id))]).Replace(name)
	found, _ := fs.Glob(os.DirFS(folder), "*/"+name) // a missing folder has none
	for _, file := range found {
		path := filepath.Join(folder, file)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}
