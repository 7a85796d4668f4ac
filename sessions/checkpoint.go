package sessions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"berth/api"
	"berth/terminal"
)

const checkpointFile = "checkpoint"

// checkpoint is everything of a session that the journal after it does not
// tell: one line of JSON, then the emulator's own form.
type checkpoint struct {
	Version     int       `json:"version"`
	Cursor      uint64    `json:"cursor"` // events after it may concern the session's state
	Control     uint64    `json:"control"`
	Offset      int64     `json:"offset"`
	Reply       int64     `json:"reply"`
	Exit        *api.Exit `json:"exit"`
	Ending      bool      `json:"ending"`
	HolderPID   int       `json:"holder_pid"`
	HolderStart string    `json:"holder_start"`
	PID         int       `json:"pid"`
	Start       string    `json:"start"`
	Started     api.Time  `json:"started"`
	LastOut     api.Time  `json:"last_output"`
	Losses      int64     `json:"losses"`
	Title       string    `json:"title"`
	Cols        int       `json:"cols"`
	Rows        int       `json:"rows"`
	Taken       api.Time  `json:"taken"`
	Screen      []byte    `json:"-"`

	// Detection is the fold's own form, which the track saves here; empty: no agent was followed.
	Detection json.RawMessage `json:"detection,omitempty"`

	Parts map[string]json.RawMessage `json:"parts,omitempty"` // what each part saves, by its name
	line  []byte                     // all of this as it was read
}

const checkpointVersion = 1

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
	head := checkpoint{
		Version: checkpointVersion, Cursor: c.s.reg.events.Head(), Control: c.applied, Offset: c.term.Offset(), Reply: c.replyAt,
		Exit: c.exit, Ending: c.ending,
		HolderPID: c.holderPID, HolderStart: c.holderStart, PID: c.child.pid, Start: c.child.start, Started: api.At(c.started), LastOut: api.At(c.lastOut), Losses: c.losses,
		Title: c.term.Title(), Cols: cols, Rows: rows, Taken: api.At(c.now()),
	}
	var own json.RawMessage
	head.Parts, own = c.saveParts()
	if err := writeCheckpoint(c.s.dir, head, own, c.term.Checkpoint()); err != nil {
		c.trouble("save the checkpoint", err)
		return
	}
	c.savedAt, c.savedCursor = head.Offset, head.Cursor
	c.cured("save the checkpoint")
}

// writeCheckpoint writes a checkpoint with more fields of its own.
func writeCheckpoint(dir string, head checkpoint, own json.RawMessage, screen []byte) error {
	line, err := json.Marshal(head)
	if err != nil {
		return fmt.Errorf("encode the checkpoint: %w", err)
	}
	if len(own) > 0 {
		line = slices.Concat(line[:len(line)-1], []byte(","), own[1:])
	}
	return writeAside(filepath.Join(dir, checkpointFile), append(append(line, '\n'), screen...))
}

// loadCheckpoint reads what save wrote. Without a usable one the session is
// rebuilt from its journal's beginning, which takes longer and no more.
func loadCheckpoint(dir string) (checkpoint, error) {
	data, err := os.ReadFile(filepath.Join(dir, checkpointFile))
	if errors.Is(err, fs.ErrNotExist) {
		return checkpoint{}, err
	}
	if err != nil {
		return checkpoint{}, fmt.Errorf("read the checkpoint: %w", err)
	}
	line, screen, ok := bytes.Cut(data, []byte("\n"))
	var head checkpoint
	if !ok || json.Unmarshal(line, &head) != nil || head.Version != checkpointVersion {
		return checkpoint{}, fmt.Errorf("the checkpoint in %s is not one of version %d", dir, checkpointVersion)
	}
	head.Screen, head.line = screen, line
	return head, nil
}

// restoreTerm gives the session the emulator of a checkpoint, or a new one.
func (c *core) restoreTerm(from checkpoint) {
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
	from, err := loadCheckpoint(c.s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.trouble("load the screen", err)
	}
	c.load(from)
	c.reviewing = true
	c.replay() // a checkpoint that could not be written leaves something to do
	c.reviewing = false
	return c.term, nil
}

// dropPicture frees the emulator of an ended session.
func (c *core) dropPicture() {
	c.savedTitle, c.savedAt = c.term.Title(), c.term.Offset()
	c.term = nil
	_ = c.output.Close()  // read-only files: nothing can be lost
	_ = c.control.Close() // likewise
}
