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

// files are the agent's own files, which tell of it beside its hooks. A note of
// the system's says when to read them; they are looked at now and then too, for
// notes can be lost.
type files struct {
	state *watch.Subscription // of its live state
	log   sessionLog
}

// close ends the notes.
func (f *files) close() {
	f.state.Stop()
	f.log.notes.Stop()
}

// sessionLog is the log that the agent keeps of its conversation.
type sessionLog struct {
	tail   *tail.Tail          // nil while nobody has said where it is
	notes  *watch.Subscription // of its changes
	since  time.Time           // entries up to then are of the past: they move nothing
	newest time.Time           // of the entries taken in
	more   bool                // it was not read to its end

	ledger      detect.Ledger
	renewals    uint64    // how often it was replaced or cut short
	outside     string    // named by the agent, and not among its own
	sought      string    // the conversation whose log is sought, or was found by seeking
	soughtSince time.Time // and since when
}

// savedLog is what a checkpoint keeps of it.
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

// restored goes on where a checkpoint left off. It may be nil.
func (s *savedLog) restored(logs tail.Below, old func(line []byte) bool) sessionLog {
	if s == nil {
		return sessionLog{}
	}
	return sessionLog{tail: tail.Resume(logs, s.Mark, old), since: s.Since, newest: s.Newest, renewals: s.Renewals, ledger: s.Ledger, more: true}
}

// findLog is the file of that name in any of the folders of a folder: the
// pattern is as agent.Launch has it.
func findLog(pattern, id string) string {
	folder, name, ok := strings.Cut(pattern, "/*/")
	if !ok || strings.ContainsAny(id, `*?[\`) {
		return ""
	}
	name = strings.NewReplacer("%s", id, "%.8s", id[:min(8, len(id))]).Replace(name)
	found, _ := fs.Glob(os.DirFS(folder), "*/"+name) // a folder that is not there holds none
	for _, file := range found {
		path := filepath.Join(folder, file)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}
