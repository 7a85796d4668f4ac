package gates

import (
	"context"
	"errors"

	"berth/agent"
	"berth/sessions/gates/transcript"
)

const eventTranscript = "transcript_saved"

// logs has the agent's reports about its log that are still to be handled.
type logs struct {
	words   []transcript.Word
	path    string          // the path in the newest report
	waiting map[uint64]bool // hooks that wait until their report is handled
	busy    bool            // a goroutine handles reports
	emitted int             // number of the last part that has its event
}

// mostWords limits these reports. An agent that changes its log faster than the parts are copied loses the oldest
// reports. Only borders between parts are lost by that.
const mostWords = 256

// transcriptEvent is the data of an event about a saved part of the session log.
type transcriptEvent struct {
	N            int    `json:"n"`
	Bytes        int64  `json:"bytes"`
	Lines        int    `json:"lines"`
	Reason       string `json:"reason"`
	Conversation string `json:"conversation"`
}

// Log records a hook's report about the agent's log: its path, and that the agent is about to leave or to compact
// it. waits reports whether the hook waits until the report is handled.
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

// restore continues from an earlier server's checkpoint.
func (l *logs) restore(words []transcript.Word, told int) {
	l.words, l.emitted, l.waiting = words, told, map[uint64]bool{}
	for _, w := range words {
		l.path, l.waiting[w.Record] = w.Path, true // has no effect if the hook no longer waits
	}
}

// KeepLogs handles the reports, off the loop and one after the other.
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
		err := store.Observe(w)
		heard := store.Observed(w)
		parts, listed := store.Saved()
		_ = g.env.Do(context.Background(), func() { // if the loop has ended, the next server handles them
			if !heard && g.logs.path == w.Path {
				g.logs.path = "" // so that the next hook's report is handled again
			}
			g.observed(w, parts, errors.Join(err, listed))
		})
	})
}

// observed emits the events of saved parts, and releases the hook that waited for them.
func (g *Gates) observed(w transcript.Word, parts []transcript.Part, err error) {
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
		if p.N > l.emitted {
			l.emitted = p.N
			g.env.Note(eventTranscript, transcriptEvent{N: p.N, Bytes: p.Bytes, Lines: p.Lines, Reason: p.Reason, Conversation: p.Conversation})
		}
	}
	g.env.ReleaseHooks()
	g.KeepLogs()
}
