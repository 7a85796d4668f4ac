package outbox

import (
	"berth/sessions/loop"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"berth/api"
)

func (out *Outbox) queuedFile(q *queued) string {
	name := "%020d.json"
	if q.Direct {
		name = "%020d.direct.json" // its number may be that of a message queued meanwhile
	}
	if q.letter() != 0 {
		name = "%020d.letter.json"
	}
	return filepath.Join(out.env.Dir, queueDir, fmt.Sprintf(name, q.number))
}

// direct is the record of a delivery that is not one of a queued message.
func (out *Outbox) direct(claim loop.Claim, n Nudge) *queued {
	number := out.env.Next()
	return &queued{
		ID: fmt.Sprintf("n%d", number), number: number, By: claim.By(), Kind: claim.Identity.Kind, Nudge: n, Since: api.At(out.env.Now()), Stage: stageWaiting, Direct: true,
	}
}

// dropDirect removes the file of a delivery whose end is reported.
func (out *Outbox) dropDirect(q *queued) {
	if q == nil || q.Stage == stageWaiting {
		return // nothing of it was kept
	}
	if err := os.Remove(out.queuedFile(q)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		out.env.Trouble("remove a delivered message", err)
	}
}

func (out *Outbox) saveQueued(q *queued) error {
	data, err := json.Marshal(q)
	if err != nil {
		return fmt.Errorf("encode a message: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(out.env.Dir, queueDir), 0o700); err != nil {
		return fmt.Errorf("store a message: %w", err)
	}
	return out.env.Write(out.queuedFile(q), data)
}

// stage keeps how far a message has come.
func (out *Outbox) stage(q *queued, to stage) error {
	if q.Stage == to {
		return nil
	}
	before := *q
	q.Stage, q.staged = to, out.env.Now()
	q.StageAt = api.At(q.staged)
	if to == stageEntered && q.entered.IsZero() {
		q.Entered, q.entered = q.StageAt, q.staged
	}
	err := out.saveQueued(q)
	if err != nil {
		q.Stage, q.StageAt, q.staged, q.Entered, q.entered = before.Stage, before.StageAt, before.staged, before.Entered, before.entered
	}
	return err
}

// Load takes up what the server before has left.
func (out *Outbox) Load() error {
	out.since = out.env.Now()
	var found stash
	data, err := os.ReadFile(filepath.Join(out.env.Dir, stashFile))
	if err == nil && json.Unmarshal(data, &found) == nil {
		out.stash = &found
	}
	files, err := os.ReadDir(filepath.Join(out.env.Dir, queueDir)) // by name, and so by number
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
		name := filepath.Join(out.env.Dir, queueDir, file.Name())
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
		q.staged = out.env.OnClock(q.StageAt.Time)
		if q.Entered.IsZero() && q.Stage == stageEntered { // of a server that did not keep it
			q.Entered = q.StageAt
		}
		if !q.Entered.IsZero() {
			q.entered = out.env.OnClock(q.Entered.Time)
		}
		out.queue = append(out.queue, q)
	}
	out.order()
	return failed
}

// order puts the queue in the order of delivery: first what may be in the composer, then the messages of callers,
// then those of other sessions. The message after a limit comes last, because each of these goes on too.
func (out *Outbox) order() {
	rank := func(q *queued) int {
		switch {
		case q.Direct:
			return 0
		case q.busy || q.Stage != stageWaiting:
			return 1
		case q.Limit == 0 && q.letter() == 0:
			return 2
		case q.Limit == 0:
			return 3
		}
		return 4
	}
	slices.SortStableFunc(out.queue, func(a, b *queued) int { return rank(a) - rank(b) })
}

// keepStash keeps that a draft is put aside, before it is.
func (out *Outbox) keepStash(by loop.By, nudge string) error {
	if out.stash != nil {
		return nil
	}
	a := &stash{By: by, Nudge: nudge}
	data, err := json.Marshal(a)
	if err == nil {
		err = out.env.Write(filepath.Join(out.env.Dir, stashFile), data)
	}
	if err == nil {
		out.stash = a
	}
	return err
}

// dropStash forgets it.
func (out *Outbox) dropStash() {
	if out.stash == nil {
		return
	}
	out.stash = nil
	if err := os.Remove(filepath.Join(out.env.Dir, stashFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		out.env.Trouble("remove a stashed draft", err)
	}
}
