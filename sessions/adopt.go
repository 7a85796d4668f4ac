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
	"berth/sessions/hold"
	"berth/sessions/loop"
	"berth/sessions/mail"
)

// adoptAtOnce bounds how many sessions are taken up at the same time: reading
// a journal is work for a processor.
const adoptAtOnce = 4

// adoptAll takes up every session in the state folder. A session that cannot be
// read is logged and left as it is, not deleted.
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
		if r.abandon(filepath.Join(r.sessionsDir(), e.Name())) {
			continue
		}
		a, err := r.findSession(filepath.Join(r.sessionsDir(), e.Name()))
		if err != nil && os.Remove(filepath.Join(r.sessionsDir(), e.Name())) == nil {
			continue // a kill came before its first file, or after its last
		}
		if err != nil {
			r.log.Error("a session's folder cannot be used", "folder", e.Name(), "error", err)
			r.unusable.why = append(r.unusable.why, fmt.Sprintf("the session's folder %s cannot be used: %v", e.Name(), err))
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
			a.kernel.Close()
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
		r.unusable.strays = append(r.unusable.strays, Holder{PID: s.PID, UID: s.UID, Start: s.Start, ID: id, Name: id})
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
	c.kernel.Parts.Restore(from, c.kernel.Problem.Trouble)
	if err := c.outbox.Load(); err != nil {
		c.kernel.Problem.Trouble("take up its messages", err)
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
		if a.life.Exit() == nil || a.track.State() != agent.Exited {
			since = min(since, a.from.Cursor)
		}
		if from, ok := a.mail.Since(); ok {
			since = min(since, from)
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
		switch {
		case a == nil:
		case line.Cursor > a.from.Cursor:
			a.kernel.Parts.Recall(line)
		case line.Type == mail.EventTell: // the checkpoint has no messages
			a.mail.Recall(line)
		}
	}
	return nil
}

// adopt finds the session's holder, or what became of it.
func (a *adoption) adopt(ctx context.Context) {
	c := a.core
	c.recall(a.from)
	if err := c.s.askAgain(c.spec); err != nil { // a kill may have come between the two
		c.kernel.Problem.Trouble("have hooks ask", err)
	}
	if c.life.Exit() != nil && !c.hasNews(a.from) {
		return // the screen is loaded when a client looks
	}
	if c.spec.User != "" { // the start of the server may have closed the folders to other users
		if err := c.s.letThrough(); err != nil {
			c.kernel.Problem.Trouble("let the session's user reach it", err)
		}
	}
	if err := c.s.reg.options.Cgroups.Renew(c.s.id, c.spec.Limits.cgroup()); err != nil {
		c.kernel.Problem.Trouble("set its limits again", err)
	}
	c.kernel.Load(a.from)
	c.resumeParts(a.from)
	c.kernel.Journal.Adopt()
	ctx, cancel := context.WithTimeout(ctx, adoptPatience)
	defer cancel()
	c.life.Connect(ctx)
}

// adoptPatience is how long a start of the server waits for one holder.
const adoptPatience = 2 * time.Second

// recall takes over what only the checkpoint knows.
func (c *core) recall(from loop.Checkpoint) {
	c.kernel.Recall(from)
	c.clients.Resume(c.life.Exit() == nil)
	if from.Cols > 0 {
		c.spec.Cols, c.spec.Rows = from.Cols, from.Rows
	}
}

// hasNews says whether the control log goes on after the checkpoint: then an
// ended session was started again.
func (c *core) hasNews(from loop.Checkpoint) bool {
	return loop.HasNews(c.s.dir, from.Control)
}

// resumeParts goes on with the program that runs.
func (c *core) resumeParts(from loop.Checkpoint) {
	switch {
	case c.s.reg.driver(c.spec) == nil:
		c.kernel.Parts.End()
	case from.Followed():
		if err := c.track.Resume(c.life.Started(), from.Taken.Time); err != nil {
			c.kernel.Problem.Trouble("restore what was known of the agent", err)
			c.beginParts(from.Taken.Time)
		}
	case c.life.Child().PID != 0: // by a server that followed no such program
		c.beginParts(c.life.Started())
	}
}
