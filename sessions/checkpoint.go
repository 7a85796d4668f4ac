package sessions

import (
	"errors"
	"io/fs"
	"time"

	"berth/api"
	"berth/sessions/loop"
	"berth/terminal"
)

// saveIfDue writes a checkpoint after enough change or enough time.
func (c *core) saveIfDue(now time.Time) {
	if c.term == nil || c.exit != nil {
		return
	}
	change := c.term.Offset() - c.savedAt
	old := now.Sub(c.saved)
	behind := c.s.reg.events.Head() - c.savedCursor
	if c.saveSoon || (change > 0 || behind > checkpointEvents) && old >= checkpointTime || change >= checkpointSize && old >= time.Second {
		c.save()
	}
}

// save writes the checkpoint. A failure costs no more than a longer replay.
func (c *core) save() {
	if c.term == nil {
		return
	}
	c.saveSoon = false
	c.flushAllPaced() // records behind a checkpoint make no event any more
	c.saved = c.now()
	cols, rows := c.term.Size()
	head := loop.Checkpoint{
		Cursor: c.s.reg.events.Head(), Control: c.applied, Offset: c.term.Offset(), Reply: c.replyAt,
		Exit: c.exit, Ending: c.ending,
		HolderPID: c.holderPID, HolderStart: c.holderStart, PID: c.child.pid, Start: c.child.start, Started: api.At(c.started), LastOut: api.At(c.lastOut), Losses: c.losses,
		Title: c.term.Title(), Cols: cols, Rows: rows, Taken: api.At(c.now()), Screen: c.term.Checkpoint(),
	}
	c.parts.Save(&head, c.trouble)
	if err := head.Write(c.s.dir); err != nil {
		c.trouble("save the checkpoint", err)
		return
	}
	c.savedAt, c.savedCursor = head.Offset, head.Cursor
	c.cured("save the checkpoint")
}

// restoreTerm gives the session the emulator of a checkpoint, or a new one.
func (c *core) restoreTerm(from loop.Checkpoint) {
	options := c.termOptions()
	if len(from.Screen) > 0 {
		term, err := terminal.Restore(options, from.Screen)
		if err == nil {
			c.term, c.applied = term, from.Control
			return
		}
		c.trouble("restore the screen from its checkpoint", err)
	}
	c.term, c.applied = terminal.New(options), 0
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
