package sessions

import (
	"time"

	"berth/api"
	"berth/sessions/loop"
)

// When a checkpoint is written.
const (
	checkpointTime   = 30 * time.Second // most time of change between checkpoints
	checkpointSize   = 8 << 20          // most output between checkpoints, bytes
	checkpointEvents = 20_000           // most events of all sessions since one: the next server reads them all
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
