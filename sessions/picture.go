package sessions

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"berth/sessions/loop"
	"berth/terminal"
)

// dropPicture is how long an ended session's screen is unused before it leaves memory.
const dropPicture = time.Minute

// Snapshot is the present picture with at most history lines above it, never
// one from inside a synchronized update.
func (s *Session) Snapshot(ctx context.Context, history int) (*terminal.Snapshot, error) {
	return settled(ctx, s, func(c *core) (*terminal.Snapshot, error) {
		term, err := c.picture()
		if err != nil {
			return nil, err
		}
		return term.Snapshot(history), nil
	})
}

// settled runs fn on the loop when no synchronized update is under way.
func settled[T any](ctx context.Context, s *Session, fn func(*core) (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	got := make(chan result, 1)
	var none T
	err := s.do(ctx, func(c *core) {
		c.whenSettled(func() {
			value, err := fn(c)
			got <- result{value, err}
		})
	})
	if err != nil {
		return none, err
	}
	select {
	case r := <-got:
		return r.value, r.err
	case <-s.over:
		select {
		case r := <-got: // the loop's last act
			return r.value, r.err
		default:
			return none, s.stopped()
		}
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

// picture is the session's emulator; that of an ended session is loaded when
// somebody looks.
func (c *core) picture() (*terminal.Terminal, error) {
	c.pictureAge = c.now()
	if c.term != nil {
		return c.term, nil
	}
	from, err := loop.LoadCheckpoint(c.s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.trouble("load the screen", err)
	}
	c.load(from)
	c.reviewing = true
	c.journal.Replay() // a checkpoint that could not be written leaves something to do
	c.reviewing = false
	return c.term, nil
}

// dropPicture frees the emulator of an ended session.
func (c *core) dropPicture() {
	c.savedTitle, c.savedAt = c.term.Title(), c.term.Offset()
	c.term = nil
	c.journal.CloseFiles()
}

// pictureIsIdle says that only memory of lookers-on keeps the emulator.
func (c *core) pictureIsIdle() bool {
	return c.exit != nil && c.term != nil && c.link() == nil && !c.starting && c.clients.None()
}

// load rebuilds the emulator from a checkpoint.
func (c *core) load(from loop.Checkpoint) {
	c.restoreTerm(from)
	c.journal.Resume(c.applied)
}
