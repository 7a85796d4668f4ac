package gates

import (
	"context"
	"errors"

	"berth/agent"
	"berth/sessions/gates/transcript"
)

const eventTranscript = "transcript_saved"

// logs is what is kept of the session's transcripts: words of the agent's about its log that
// are not taken in yet.
type logs struct {
	words   []transcript.Word
	path    string          // of the newest word
	waiting map[uint64]bool // hooks that wait until their word is taken in
	busy    bool            // a goroutine takes words in
	told    int             // number of the last part that made its event
}

// mostWords bounds them: an agent that goes from log to log faster than they
// are copied loses the oldest words, and no more than the borders between parts.
const mostWords = 256

// transcriptEvent is about a part of the session log that was saved.
type transcriptEvent struct {
	N            int    `json:"n"`
	Bytes        int64  `json:"bytes"`
	Lines        int    `json:"lines"`
	Reason       string `json:"reason"`
	Conversation string `json:"conversation"`
}

// Log takes in what a hook says of the agent's log: where it is, and that
// it is about to be left or summarised. waits says that the hook waits until its word was taken
// in.
func (g *Gates) Log(f agent.Fact, record uint64, waits bool) {
	w := transcript.Word{Record: record, Path: f.Log, Conversation: f.Conversation}
	w.Clears = f.Kind == agent.ConversationEnded && f.Text == "clear"
	w.Compacts = f.Activity != nil && f.Activity.Kind == agent.Compacting
	l := &g.logs
	if f.Log == "" || f.Agent != "" || w.Path == l.path && !w.Clears && !w.Compacts || g.env.Store() == nil {
		return
	}
	l.path = w.Path
	if l.words = append(l.words, w); len(l.words) > mostWords {
		l.words = append([]transcript.Word(nil), l.words[1:]...)
	}
	if waits && w.Compacts {
		if l.waiting == nil {
			l.waiting = map[uint64]bool{}
		}
		l.waiting[record] = true
	}
}

// restore goes on where the server before this one left off.
func (l *logs) restore(words []transcript.Word, told int) {
	l.words, l.told, l.waiting = words, told, map[uint64]bool{}
	for _, w := range words {
		l.path, l.waiting[w.Record] = w.Path, true // of a hook that waits no more it means nothing
	}
}

// KeepLogs has the words taken in, off the loop and one after the other.
func (g *Gates) KeepLogs() {
	l := &g.logs
	if l.busy || len(l.words) == 0 {
		return
	}
	store := g.env.Store()
	if store == nil {
		l.words = nil
		return
	}
	l.busy = true
	w := l.words[0]
	g.env.Background(func(context.Context) {
		err := store.Hear(w)
		heard := store.Heard(w)
		parts, listed := store.Saved()
		_ = g.env.Do(context.Background(), func() { // a loop that has ended leaves it to the next server
			if !heard && g.logs.path == w.Path {
				g.logs.path = "" // the next hook says it again
			}
			g.heard(w, parts, errors.Join(err, listed))
		})
	})
}

// heard writes the events of what was saved, and lets the hook that waited for it go.
func (g *Gates) heard(w transcript.Word, parts []transcript.Part, err error) {
	l := &g.logs
	l.busy = false
	if len(l.words) > 0 && l.words[0].Record == w.Record {
		l.words = l.words[1:]
	}
	delete(l.waiting, w.Record)
	if err != nil {
		g.env.Trouble("keep a transcript", err)
	} else {
		g.env.Cured("keep a transcript")
	}
	for _, p := range parts {
		if p.N > l.told {
			l.told = p.N
			g.env.Note(eventTranscript, transcriptEvent{N: p.N, Bytes: p.Bytes, Lines: p.Lines, Reason: p.Reason, Conversation: p.Conversation})
		}
	}
	g.env.LetGo()
	g.KeepLogs()
}
