package sessions

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"berth/api"
)

func (c *core) queuedFile(q *queued) string {
	name := "%020d.json"
	if q.Direct {
		name = "%020d.direct.json" // its number may be that of a message queued meanwhile
	}
	return filepath.Join(c.s.dir, queueDir, fmt.Sprintf(name, q.number))
}

// direct is the record of a delivery that is not one of a queued message.
func (c *core) direct(claim Claim, n Nudge) *queued {
	number := c.s.reg.events.LastSeq(c.s.id) + 1
	return &queued{
		ID: fmt.Sprintf("n%d", number), number: number, By: claim.by(), Kind: claim.Identity.Kind, Nudge: n, Since: api.At(c.now()), Stage: stageWaiting, Direct: true,
	}
}

// dropDirect forgets a delivery whose end is told.
func (c *core) dropDirect(q *queued) {
	if q == nil || q.Stage == stageWaiting {
		return // nothing of it was kept
	}
	if err := os.Remove(c.queuedFile(q)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.trouble("forget a message that was delivered", err)
	}
}

func (c *core) saveQueued(q *queued) error {
	data, err := json.Marshal(q)
	if err != nil {
		return fmt.Errorf("encode a message: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(c.s.dir, queueDir), 0o700); err != nil {
		return fmt.Errorf("keep a message: %w", err)
	}
	return writeAside(c.queuedFile(q), data)
}

// stage keeps how far a message has come.
func (c *core) stage(q *queued, to stage) error {
	if q.Stage == to {
		return nil
	}
	before := *q
	q.Stage, q.staged = to, c.now()
	q.StageAt = api.At(q.staged)
	if to == stageEntered && q.entered.IsZero() {
		q.Entered, q.entered = q.StageAt, q.staged
	}
	err := c.saveQueued(q)
	if err != nil {
		q.Stage, q.StageAt, q.staged, q.Entered, q.entered = before.Stage, before.StageAt, before.staged, before.Entered, before.entered
	}
	return err
}

// loadMail takes up what the server before has left.
func (c *core) loadMail() error {
	c.mail.since = c.now()
	var found aside
	data, err := os.ReadFile(filepath.Join(c.s.dir, asideFile))
	if err == nil && json.Unmarshal(data, &found) == nil {
		c.mail.aside = &found
	}
	files, err := os.ReadDir(filepath.Join(c.s.dir, queueDir)) // by name, and so by number
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("read the queue: %w", err)
	}
	var failed error
	for _, file := range files {
		if filepath.Ext(file.Name()) != ".json" {
			continue
		}
		name := filepath.Join(c.s.dir, queueDir, file.Name())
		data, err := os.ReadFile(name)
		q := &queued{}
		if err == nil {
			_, err = fmt.Sscanf(file.Name(), "%d.", &q.number)
		}
		if err == nil {
			err = json.Unmarshal(data, q)
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("read the message in %s: %w", name, err))
			continue
		}
		q.staged = c.onClock(q.StageAt.Time)
		if q.Entered.IsZero() && q.Stage == stageEntered { // of a server that did not keep it
			q.Entered = q.StageAt
		}
		if !q.Entered.IsZero() {
			q.entered = c.onClock(q.Entered.Time)
		}
		c.mail.queue = append(c.mail.queue, q)
	}
	slices.SortStableFunc(c.mail.queue, func(a, b *queued) int { // what may stand in the composer goes first
		switch {
		case a.Direct == b.Direct:
			return 0
		case a.Direct:
			return -1
		}
		return 1
	})
	return failed
}

// keepAside keeps that a draft is put aside, before it is.
func (c *core) keepAside(by By, nudge string) error {
	if c.mail.aside != nil {
		return nil
	}
	a := &aside{By: by, Nudge: nudge}
	data, err := json.Marshal(a)
	if err == nil {
		err = writeAside(filepath.Join(c.s.dir, asideFile), data)
	}
	if err == nil {
		c.mail.aside = a
	}
	return err
}

// dropAside forgets it.
func (c *core) dropAside() {
	if c.mail.aside == nil {
		return
	}
	c.mail.aside = nil
	if err := os.Remove(filepath.Join(c.s.dir, asideFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.trouble("forget a draft that was put aside", err)
	}
}
