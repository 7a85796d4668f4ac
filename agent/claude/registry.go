package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"berth/agent"
)

// Entry is one file of the folder where every running Claude keeps its state: sessions/<pid>.json.
// It belongs to a process only if PID and Start are that process's, because a killed one leaves its
// file.
type Entry struct {
	PID             int    `json:"pid"`
	Start           string `json:"procStart"` // field 22 of /proc/<pid>/stat
	Session         string `json:"sessionId"`
	Cwd             string `json:"cwd"`
	Version         string `json:"version"`
	Name            string `json:"name"`
	Status          string `json:"status"` // idle, busy, waiting, shell
	WaitingFor      string `json:"waitingFor"`
	StatusUpdatedAt int64  `json:"statusUpdatedAt"` // ms since the epoch
}

// ErrTorn is the error for a state file that was read during a write.
var ErrTorn = errors.New("not a whole state file")

// ParseEntry reads a state file. Claude writes it without truncating it first, so the tail of an
// older, longer one may follow: only the first JSON value counts.
func ParseEntry(data []byte) (Entry, error) {
	var e Entry
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&e); err != nil {
		return e, fmt.Errorf("read a state file: %w: %w", ErrTorn, err)
	}
	if e.PID == 0 || e.Status == "" {
		return e, fmt.Errorf("read a state file: %w: no pid or no status", ErrTorn)
	}
	return e, nil
}

// Registry reads a state file that the caller found to be the session's own.
func (Driver) Registry(name string, data []byte) ([]agent.Fact, error) {
	if !strings.HasSuffix(path.Base(name), ".json") {
		return nil, nil
	}
	e, err := ParseEntry(data)
	if err != nil {
		return nil, err
	}
	f := agent.Fact{
		Kind: agent.LevelIs, Source: agent.SourceRegistry, Cause: "registry:" + e.Status,
		Conversation: e.Session, Version: e.Version, Text: e.WaitingFor, Evidence: strings.TrimSpace(e.Status + " " + e.WaitingFor),
	}
	if e.StatusUpdatedAt > 0 {
		f.At = time.UnixMilli(e.StatusUpdatedAt)
	}
	switch e.Status {
	case "busy":
		f.Level = agent.LevelBusy
	case "idle", "shell": // shell: idle, while a background shell runs
		f.Level = agent.LevelIdle
	case "waiting":
		f.Level = agent.LevelWaiting
	default:
		f.Kind = agent.Noted
	}
	return []agent.Fact{f}, nil
}
