package hold

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// identity is holder.json: enough to find the holder and to know it again.
type identity struct {
	PID     int    `json:"pid"`
	Start   string `json:"start"`
	Version int    `json:"version"`
	Socket  string `json:"socket"`
	Cgroup  string `json:"cgroup,omitempty"`
	UID     *int   `json:"uid,omitempty"` // uid of the program; nil in a holder.json written before this field existed
}

// started is what the holder reports to the process that made it.
type started struct {
	Error string `json:"error,omitempty"`
	Errno int    `json:"errno,omitempty"`
}

// readIdentity reads holder.json. A folder without one has no holder; one
// that cannot be read leaves it open whether there is one.
func readIdentity(dir string) (identity, error) {
	var id identity
	data, err := os.ReadFile(filepath.Join(dir, holderFile))
	if errors.Is(err, os.ErrNotExist) {
		return id, fmt.Errorf("%w: %w", ErrGone, err)
	}
	if err != nil {
		return id, fmt.Errorf("%w: %w", ErrNoAnswer, err)
	}
	if err := json.Unmarshal(data, &id); err != nil {
		return id, fmt.Errorf("%w: decoding %s: %w", ErrNoAnswer, holderFile, err)
	}
	return id, nil
}
