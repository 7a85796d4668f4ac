package sessions

import (
	"context"
	"time"

	"berth/agent"
	"berth/api"
	"berth/detect/watch"
	"berth/sessions/gates/transcript"
)

const (
	// mostFollowed is how many bytes of its log a followed conversation begins with: some 10,000
	// messages. A server reads them in half a second.
	mostFollowed = 32 << 20
	// batch is how many entries are passed on at once.
	batch = 1000
	// growPause is the least time between two looks at a log that grows.
	growPause = 100 * time.Millisecond
)

// FollowConversation passes on the newest entries of the session's log, and then each that is added,
// until ctx ends. current reports that there are no more for now. It waits for the file's watcher and
// for the session's signals, so a log at rest costs nothing.
func (s *Session) FollowConversation(ctx context.Context, each func(entries []agent.Entry, current bool)) error {
	store, err := s.Transcripts()
	if err != nil {
		return err
	}
	reader := s.TranscriptReader()
	if reader == nil {
		st := s.Status()
		return api.Errorf(api.CodeNoDriver, "berth can't read the session log of %s", st.Agent).With("session", st.Name)
	}
	f := follower{s: s, store: store, reader: reader, each: each, grown: make(chan struct{}, 1)}
	changed, stop := s.Subscribe()
	defer stop()
	defer func() { f.watched.Stop() }()
	if f.at, err = store.Recent(mostFollowed); err != nil {
		return err
	}
	for {
		f.watch()
		if err := f.look(ctx); err != nil {
			return err
		}
		for again := false; !again; {
			select {
			case <-f.grown:
				again = true
			case <-changed: // perhaps it has another log now
				again = f.path != store.Live() || f.watched == nil || !f.watched.Live()
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		pause := time.NewTimer(growPause)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return ctx.Err()
		}
	}
}

// follower is one reader of a session's log.
type follower struct {
	s       *Session
	store   *transcript.Store
	reader  agent.TranscriptReader
	each    func([]agent.Entry, bool)
	at      transcript.Place
	path    string              // the watched log
	watched *watch.Subscription // nil: it can't be watched, or there is none yet
	grown   chan struct{}       // holds one signal: the log has changed
}

// watch watches the log that the agent writes now.
func (f *follower) watch() {
	path := f.store.Live()
	if path == f.path && f.watched != nil && f.watched.Live() {
		return
	}
	f.watched.Stop()
	f.watched, f.path = nil, path
	if path != "" && f.s.reg.watcher != nil {
		f.watched, _ = f.s.reg.watcher.Watch(path, f.grown) // without it the session's signals show a change
	}
}

// look passes on what was added.
func (f *follower) look(ctx context.Context) error {
	var entries []agent.Entry
	n := f.at.N
	at, err := f.store.After(ctx, f.at, func(l transcript.Line) error {
		if l.N != n { // the log goes on in another part
			n = l.N
			if f.store.Began(n) {
				entries = append(entries, agent.Entry{Kind: agent.EntryNotice, Text: "A new conversation"})
			}
		}
		if l.Data == nil {
			entries = append(entries, agent.Entry{Kind: agent.EntryNotice, Text: "An entry of the log is too long to be shown"})
		} else {
			entries = append(entries, f.reader.Entries(l.Data)...)
		}
		if len(entries) >= batch {
			f.each(entries, false)
			entries = nil
		}
		return ctx.Err()
	})
	if f.at = at; err == nil {
		f.each(entries, true)
	}
	return err
}
