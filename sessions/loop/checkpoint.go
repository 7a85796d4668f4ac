package loop

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"berth/api"
)

// CheckpointFile is the checkpoint's name in the session's folder.
const CheckpointFile = "checkpoint"

// Checkpoint is everything of a session that the journal after it does not
// tell: one line of JSON, then the emulator's own form.
type Checkpoint struct {
	Version int      `json:"version"`
	Cursor  uint64   `json:"cursor"` // events after it may concern the session's state
	Control uint64   `json:"control"`
	Offset  int64    `json:"offset"`
	Reply   int64    `json:"reply"`
	LastOut api.Time `json:"last_output"`
	Losses  int64    `json:"losses"`
	Title   string   `json:"title"`
	Cols    int      `json:"cols"`
	Rows    int      `json:"rows"`
	Taken   api.Time `json:"taken"`
	Screen  []byte   `json:"-"`

	Typed int64      `json:"typed_at,omitempty"` // the end of the output when something was typed last
	Turns []api.Time `json:"turns,omitempty"`    // starts of turns whose output the screen doesn't have yet

	// Detection is what the track saves here of the agent that it follows; empty: it followed none.
	Detection json.RawMessage `json:"detection,omitempty"`

	Parts map[string]json.RawMessage `json:"parts,omitempty"` // what each part saves, by its name

	own  []byte // more fields of its line, each after a comma, to be written
	line []byte // all fields, as they were read
}

const checkpointVersion = 1

// Followed says that Berth followed the agent of the program that ran then.
func (c Checkpoint) Followed() bool { return len(c.Detection) > 0 }

// Write writes the checkpoint into the session's folder.
func (c Checkpoint) Write(dir string) error {
	c.Version = checkpointVersion
	line, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("encode the checkpoint: %w", err)
	}
	line = slices.Concat(line[:len(line)-1], c.own, []byte("}"))
	return ReplaceFile(filepath.Join(dir, CheckpointFile), append(append(line, '\n'), c.Screen...))
}

// LoadCheckpoint reads what Write wrote. Without a usable one the session is
// rebuilt from its journal's beginning, which takes longer and no more.
func LoadCheckpoint(dir string) (Checkpoint, error) {
	data, err := os.ReadFile(filepath.Join(dir, CheckpointFile))
	if errors.Is(err, fs.ErrNotExist) {
		return Checkpoint{}, err
	}
	if err != nil {
		return Checkpoint{}, fmt.Errorf("read the checkpoint: %w", err)
	}
	line, screen, ok := bytes.Cut(data, []byte("\n"))
	var c Checkpoint
	if !ok || json.Unmarshal(line, &c) != nil || c.Version != checkpointVersion {
		return Checkpoint{}, fmt.Errorf("the checkpoint in %s is not one of version %d", dir, checkpointVersion)
	}
	c.Screen, c.line = screen, line
	return c, nil
}

// ReplaceFile replaces a file in one step: a reader sees the old or the new one.
func ReplaceFile(path string, data []byte) error {
	aside := path + ".new"
	_ = os.Remove(aside) // of a server that was killed, or what an agent has put in the way
	if err := writeNew(aside, data); err != nil {
		_ = os.Remove(aside) // on a full disk it is incomplete
		return fmt.Errorf("write %s: %w", aside, err)
	}
	if err := os.Rename(aside, path); err != nil {
		return fmt.Errorf("replace %s: %w", path, err)
	}
	return nil
}

// writeNew writes a file where none is: to open a pipe would wait for its reader.
func writeNew(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
