package sessions

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"

	"berth/agent"
	"berth/api"
	"berth/sessions/events"
	"berth/sessions/hold"
	"berth/sessions/loop"
)

// adoptAtOnce bounds how many sessions are taken up at the same time: reading
// a journal is work for a processor.
const adoptAtOnce = 4

// adoptAll takes up every session that the state folder tells of. One that
// cannot be read is left alone and told in the log, not deleted.
func (r *Registry) adoptAll(ctx context.Context) error {
	entries, err := os.ReadDir(r.sessionsDir())
	if err != nil {
		return err
	}
	var found []*adoption
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		a, err := r.findSession(filepath.Join(r.sessionsDir(), e.Name()))
		if err != nil && os.Remove(filepath.Join(r.sessionsDir(), e.Name())) == nil {
			continue // a kill came before its first file, or after its last
		}
		if err != nil {
			r.log.Error("a session's folder cannot be used", "folder", e.Name(), "error", err)
			r.unusable = append(r.unusable, fmt.Sprintf("the session's folder %s cannot be used: %v", e.Name(), err))
			r.keepStray(filepath.Join(r.sessionsDir(), e.Name()))
			continue
		}
		found = append(found, a)
	}
	if err := r.recallStates(ctx, found); err != nil {
		return err
	}
	slots := make(chan struct{}, adoptAtOnce)
	var work sync.WaitGroup
	for _, a := range found {
		slots <- struct{}{}
		work.Go(func() {
			defer func() { <-slots }()
			a.adopt(ctx)
		})
	}
	work.Wait()
	if err := ctx.Err(); err != nil {
		for _, a := range found {
			a.close()
		}
		return err
	}
	for _, a := range found {
		r.births.recall(r.now(), a.spec.Root, a.spec.Created.Time)
		r.run(a.core)
	}
	return nil
}

// keepStray remembers the holder of a session that cannot be taken up: what
// runs below it is an agent all the same, and never the server's user.
func (r *Registry) keepStray(dir string) {
	if s, ok := hold.FindSurvivor(dir); ok {
		id := filepath.Base(dir)
		r.strays = append(r.strays, Holder{PID: s.PID, UID: s.UID, Start: s.Start, ID: id, Name: id})
	}
}

// adoption is a session on its way back.
type adoption struct {
	*core
	from loop.Checkpoint
}

// findSession reads what a session's folder says of it.
func (r *Registry) findSession(dir string) (*adoption, error) {
	spec, err := loadSpec(dir)
	if err != nil {
		return nil, err
	}
	from, err := loop.LoadCheckpoint(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.log.Warn("a checkpoint cannot be used; the screen is made from the whole journal", "session", spec.Name, "error", err)
	}
	c := r.newCore(spec, dir)
	c.told = r.events.LastCause(spec.ID)
	c.parts.Restore(from, c.trouble)
	if err := c.outbox.Load(); err != nil {
		c.trouble("take up its messages", err)
	}
	return &adoption{core: c, from: from}, nil
}

// recallStates finds the state that each session was last said to be in: that
// of its checkpoint, or of a later event.
func (r *Registry) recallStates(ctx context.Context, found []*adoption) error {
	byID := map[string]*adoption{}
	since := uint64(math.MaxUint64)
	for _, a := range found {
		byID[a.s.id] = a
		if a.from.Exit == nil || a.track.State() != agent.Exited {
			since = min(since, a.from.Cursor)
		}
	}
	head := r.events.Head()
	if since >= head {
		return nil
	}
	reader := r.events.Follow(since)
	for reader.Position() < head {
		line, err := reader.Next(ctx)
		if err != nil {
			return err
		}
		a := byID[line.ID]
		if a != nil && line.Cursor > a.from.Cursor {
			a.recallEvent(line)
		}
	}
	return nil
}

// recallEvent brings what the checkpoint has up to date.
func (a *adoption) recallEvent(line events.Line) {
	a.parts.Recall(line)
	switch line.Type {
	case "exited":
		if line.Cause == 0 {
			a.lost = &api.Exit{Lost: true, Time: api.At(line.Time)}
		}
	case "restarted":
		a.lost = nil
	}
}

// adopt finds the session's holder, or what became of it.
func (a *adoption) adopt(ctx context.Context) {
	c := a.core
	c.recall(a.from)
	if err := c.s.askAgain(c.spec); err != nil { // a kill may have come between the two
		c.trouble("have hooks ask", err)
	}
	if c.exit = a.from.Exit; c.exit != nil && !c.hasNews(a.from) {
		c.applied = a.from.Control
		return // the screen is loaded when somebody looks
	}
	if c.spec.User != "" { // whoever starts the server may have closed them
		if err := c.s.letThrough(); err != nil {
			c.trouble("let the session's user reach it", err)
		}
	}
	c.load(a.from)
	c.resumeParts(a.from)
	c.journal.Adopt()
	ctx, cancel := context.WithTimeout(ctx, adoptPatience)
	defer cancel()
	c.connect(ctx)
}

// adoptPatience is how long a start of the server waits for one holder.
const adoptPatience = 2 * time.Second

// recall takes over what only the checkpoint knows.
func (c *core) recall(from loop.Checkpoint) {
	c.child = child{pid: from.PID, start: from.Start}
	c.started, c.lastOut = from.Started.Time, from.LastOut.Time
	c.holderPID, c.holderStart = from.HolderPID, from.HolderStart
	c.losses, c.replyAt, c.ending = from.Losses, from.Reply, from.Ending
	c.clients.Resume(from.Exit == nil)
	c.saved, c.savedAt, c.savedTitle, c.savedCursor = c.now(), from.Offset, from.Title, from.Cursor
	c.restarts.running = c.started
	if from.Cols > 0 {
		c.spec.Cols, c.spec.Rows = from.Cols, from.Rows
	}
}

// hasNews says whether the control log goes on after the checkpoint: then an
// ended session was started again.
func (c *core) hasNews(from loop.Checkpoint) bool {
	return loop.HasNews(c.s.dir, from.Control)
}
