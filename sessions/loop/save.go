package loop

import (
	"errors"
	"io/fs"
	"time"

	"berth/api"
	"berth/terminal"
)

// When a checkpoint is written.
const (
	checkpointTime   = 30 * time.Second // most time of change between checkpoints
	checkpointSize   = 8 << 20          // most output between checkpoints, bytes
	checkpointEvents = 20_000           // most events of all sessions since one: the next server reads them all
)

// saving is what the newest checkpoint has.
type saving struct {
	soon   bool      // a checkpoint is due at the end of this turn
	at     time.Time // when it was written
	offset int64     // of the output
	cursor uint64    // of the newest event
}

// SaveSoon writes a checkpoint at the end of this turn.
func (k *Kernel) SaveSoon() { k.saving.soon = true }

// saveIfDue writes a checkpoint after enough change or enough time.
func (k *Kernel) saveIfDue(now time.Time) {
	term := k.Screen.Terminal()
	if term == nil || !k.env.Running() {
		return
	}
	change := term.Offset() - k.saving.offset
	old := now.Sub(k.saving.at)
	missing := k.env.Events.Head() - k.saving.cursor
	if k.saving.soon || (change > 0 || missing > checkpointEvents) && old >= checkpointTime || change >= checkpointSize && old >= time.Second {
		k.Save()
	}
}

// saveDue is when a checkpoint is due by time; zero: never.
func (k *Kernel) saveDue() (at time.Time) {
	if term := k.Screen.Terminal(); term != nil && k.env.Running() && term.Offset() > k.saving.offset {
		at = k.saving.at.Add(checkpointTime)
	}
	return at
}

// Save writes the checkpoint. A failure only makes the next server's replay longer.
func (k *Kernel) Save() {
	term := k.Screen.Terminal()
	if term == nil {
		return
	}
	k.saving.soon = false
	k.Emit.Flush() // records before a checkpoint make no event any more
	now := k.env.Now()
	k.saving.at = now
	cols, rows := term.Size()
	head := Checkpoint{
		Cursor: k.env.Events.Head(), Control: k.applied, Offset: term.Offset(), Reply: k.Screen.Answered(),
		LastOut: api.At(k.lastOut), Losses: k.losses, Typed: k.turns.typedAt,
		Title: term.Title(), Cols: cols, Rows: rows, Taken: api.At(now), Screen: term.Checkpoint(),
	}
	for _, at := range k.turns.recalled {
		head.Turns = append(head.Turns, api.At(at))
	}
	k.Parts.Save(&head, k.Problem.Trouble)
	if err := head.Write(k.env.Dir); err != nil {
		k.Problem.Trouble("save the checkpoint", err)
		return
	}
	k.saving.offset, k.saving.cursor = head.Offset, head.Cursor
	k.Problem.Cured("save the checkpoint")
}

// Recall takes in what the checkpoint of the server before has, but for the emulator and the parts.
func (k *Kernel) Recall(from Checkpoint) {
	k.applied, k.lastOut, k.losses, k.turns.typedAt = from.Control, from.LastOut.Time, from.Losses, from.Typed
	later := k.turns.recalled // from events after the checkpoint
	k.turns.recalled = nil
	for _, at := range from.Turns {
		k.TurnRecalled(at.Time)
	}
	for _, at := range later {
		k.TurnRecalled(at)
	}
	k.Screen.Answer(from.Reply)
	k.Screen.Recall(from.Title, from.Offset)
	k.saving = saving{at: k.env.Now(), offset: from.Offset, cursor: from.Cursor}
}

// Load makes the emulator from a checkpoint. The journal is read from there.
func (k *Kernel) Load(from Checkpoint) {
	restored, err := k.Screen.Restore(from.Screen)
	if err != nil {
		k.Problem.Trouble("restore the screen from its checkpoint", err)
	}
	if k.applied = 0; restored {
		k.applied = from.Control
	}
	k.Journal.Resume(k.applied)
}

// Picture is the emulator. The one of an ended session is loaded when a caller looks.
func (k *Kernel) Picture() *terminal.Terminal {
	k.Screen.Use()
	if k.Screen.Terminal() == nil {
		from, err := LoadCheckpoint(k.env.Dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			k.Problem.Trouble("load the screen", err)
		}
		k.Load(from)
		k.reviewing = true
		k.Journal.Replay() // a checkpoint that could not be written leaves something to do
		k.reviewing = false
		k.markRecalled(time.Time{})
	}
	return k.Screen.Terminal()
}
