// Package follow copies events about who did what to a session from the event log into the audit log:
// who has control, who answered, who typed (never the text). It continues where the last server ended,
// and copies each event once.
package follow

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"berth/audit"
	"berth/sessions/events"
)

// copied are the types of events that are copied into the audit log.
var copied = map[string]bool{
	"session_created": true, "session_removed": true, "renamed": true, "exited": true,
	"writer_change": true, "input": true, "nudge": true, "message": true, "respond": true, "groom": true, "signal": true,
	"draft_stashed": true, "gate": true, "tell": true, "report": true, "client_attached": true, "client_detached": true,
}

// words are fields of events with text by an agent or its program. They are not copied.
var words = map[string]string{"report": "message", "exited": "last_lines"}

// again is how long it waits after a line couldn't be written.
const again = time.Second

// Follower follows until it is closed.
type Follower struct {
	to     *audit.Log
	from   *events.Log
	log    *slog.Logger
	cancel context.CancelFunc
	done   chan struct{}
}

// Start starts after the newest event that the audit log has seen, or with new events if it has seen
// none.
func Start(to *audit.Log, from *events.Log, log *slog.Logger) *Follower {
	ctx, cancel := context.WithCancel(context.Background())
	f := &Follower{to: to, from: from, log: log, cancel: cancel, done: make(chan struct{})}
	since, err := events.ParseCursor(to.Cursor())
	if err != nil {
		since = from.Head()
	}
	reader := from.Follow(since)
	go func() {
		defer close(f.done)
		f.run(ctx, reader)
	}()
	return f
}

// Close returns when its goroutine has ended. The next server copies what is left.
func (f *Follower) Close() {
	f.cancel()
	<-f.done
}

func (f *Follower) run(ctx context.Context, reader *events.Reader) {
	for {
		line, err := reader.Next(ctx)
		if err != nil {
			if ctx.Err() == nil {
				f.log.Error("the audit log no longer follows the events", "error", err)
			}
			return
		}
		if !f.write(ctx, line) {
			return
		}
	}
}

// write writes one event, and retries until it succeeds: the event log keeps later events.
func (f *Follower) write(ctx context.Context, line events.Line) bool {
	cursor := events.FormatCursor(line.Cursor)
	if line.Type != "gap" && !copied[line.Type] {
		f.to.Saw(cursor)
		return true
	}
	failed := false
	for {
		_, err := f.to.Append(entry(line, cursor))
		if err == nil {
			return true
		}
		if !failed {
			f.log.Error("an event can't be written to the audit log yet", "cursor", cursor, "error", err)
		}
		failed = true
		select {
		case <-ctx.Done():
			return false
		case <-time.After(again):
		}
	}
}

func entry(line events.Line, cursor string) audit.Entry {
	e := audit.Entry{Kind: audit.KindEvent, Verb: line.Type, Session: line.Session, ID: line.ID, Cursor: cursor, Event: wordless(line)}
	var by struct {
		By json.RawMessage `json:"by"`
	}
	if json.Unmarshal(line.Raw, &by) != nil {
		return e
	}
	var who struct {
		Identity    string `json:"identity"`
		Fingerprint string `json:"fingerprint"`
		Client      string `json:"client"`
	}
	if json.Unmarshal(by.By, &who) == nil {
		e.Identity, e.Fingerprint, e.Client = who.Identity, who.Fingerprint, who.Client
		return e
	}
	_ = json.Unmarshal(by.By, &e.Identity) // a bare name; empty for the server itself
	return e
}

// wordless is the event without the text of an agent.
func wordless(line events.Line) json.RawMessage {
	field, has := words[line.Type]
	if !has {
		return line.Raw
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(line.Raw, &fields) != nil {
		return nil // its cursor leads to it
	}
	delete(fields, field)
	raw, err := json.Marshal(fields)
	if err != nil {
		return nil
	}
	return raw
}
