package sessions

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"berth/agent"
	"berth/api"
	"berth/detect/tail"
	"berth/orchestrate/transcript"
)

const eventTranscript = "transcript_saved"

// transcripts is what the loop keeps of the session's transcripts: words of the
// agent's about its log that are not taken in yet.
type transcripts struct {
	words   []transcript.Word
	path    string          // of the newest word
	waiting map[uint64]bool // hooks that wait until their word is taken in
	busy    bool            // somebody takes words in
	told    int             // number of the last part that made its event
}

// mostWords bounds them: an agent that goes from log to log faster than they
// are copied loses the oldest words, and no more than the borders between parts.
const mostWords = 256

// transcriptEvent tells of a part of the session log that was saved.
type transcriptEvent struct {
	N            int    `json:"n"`
	Bytes        int64  `json:"bytes"`
	Lines        int    `json:"lines"`
	Reason       string `json:"reason"`
	Conversation string `json:"conversation"`
}

// saysOfLog takes in what a hook says of the agent's log: where it is, and that
// it is about to be left or summarised.
func (c *core) saysOfLog(f agent.Fact, record uint64, asks bool) {
	w := transcript.Word{Record: record, Path: f.Log, Conversation: f.Conversation}
	w.Clears = f.Kind == agent.ConversationEnded && f.Text == "clear"
	w.Compacts = f.Activity != nil && f.Activity.Kind == agent.Compacting
	t := &c.transcripts
	if f.Log == "" || f.Agent != "" || c.spec.logFolder() == "" || w.Path == t.path && !w.Clears && !w.Compacts {
		return
	}
	t.path = w.Path
	if t.words = append(t.words, w); len(t.words) > mostWords {
		t.words = append([]transcript.Word(nil), t.words[1:]...)
	}
	if asks && w.Compacts {
		if t.waiting == nil {
			t.waiting = map[uint64]bool{}
		}
		t.waiting[record] = true
	}
}

// restoreTranscripts goes on where a checkpoint left off.
func (c *core) restoreTranscripts(from checkpoint) {
	t := &c.transcripts
	t.words, t.told, t.waiting = from.LogWords, from.Saved, map[uint64]bool{}
	for _, w := range t.words {
		t.path, t.waiting[w.Record] = w.Path, true // of a hook that waits no more it means nothing
	}
}

// keepTranscripts has the words taken in, off the loop and one after the other.
func (c *core) keepTranscripts() {
	t := &c.transcripts
	if t.busy || len(t.words) == 0 {
		return
	}
	t.busy = true
	w, store := t.words[0], c.s.transcripts(c.spec.logs())
	c.background(func() {
		err := store.Hear(w)
		heard := store.Heard(w)
		parts, listed := store.Saved()
		_ = c.s.do(context.Background(), func(c *core) { // a loop that has ended leaves it to the next server
			if !heard && c.transcripts.path == w.Path {
				c.transcripts.path = "" // the next hook says it again
			}
			c.heardOfLog(w, parts, errors.Join(err, listed))
		})
	})
}

// heardOfLog tells of what was saved, and lets the hook that waited for it go.
func (c *core) heardOfLog(w transcript.Word, parts []transcript.Part, err error) {
	t := &c.transcripts
	t.busy = false
	if len(t.words) > 0 && t.words[0].Record == w.Record {
		t.words = t.words[1:]
	}
	delete(t.waiting, w.Record)
	if err != nil {
		c.trouble("keep a transcript", err)
	} else {
		c.cured("keep a transcript")
	}
	for _, p := range parts {
		if p.N > t.told {
			t.told = p.N
			c.note(eventTranscript, transcriptEvent{N: p.N, Bytes: p.Bytes, Lines: p.Lines, Reason: p.Reason, Conversation: p.Conversation})
		}
	}
	c.letGo()
	c.keepTranscripts()
}

// logFolder is the folder below which the agent keeps its logs, empty when it
// has none.
func (s Spec) logFolder() string {
	folder, _, _ := strings.Cut(s.LogFiles, "/*/")
	return folder
}

// logs are those that may be read for the agent's.
func (s Spec) logs() tail.Below { return tail.Below{Folder: s.logFolder(), UID: s.owner()} }

// transcripts is the store of the session's. Its folder of logs is settled when
// the program starts.
func (s *Session) transcripts(logs tail.Below) *transcript.Store {
	s.storing.Lock()
	defer s.storing.Unlock()
	if s.store == nil || s.storeOf != logs {
		s.storeOf = logs
		s.store = transcript.Open(filepath.Join(s.dir, "transcripts"), logs, s.reg.options.Retention.Transcripts, func() api.Time { return api.At(s.reg.now()) })
	}
	return s.store
}

// Transcripts are the parts of the agent's session log: those that were saved
// at a clear or a compaction, and the log itself.
func (s *Session) Transcripts() (*transcript.Store, error) {
	st := s.Status()
	if st.logFolder() == "" {
		return nil, api.Errorf(api.CodeNoDriver, "%s runs %s, which keeps no session log that berth knows; output %s has what it printed", st.Name, st.Agent, st.Name).With("session", st.Name)
	}
	return s.transcripts(st.logs()), nil
}
