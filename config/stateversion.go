package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// StateVersion is the version of the state folder's layout that this release writes. It is raised by a
// change that an older release can't read, together with the step in migrations that makes it.
const StateVersion = 1

// migrations are the steps to newer layouts: the step at index n makes version n+1 of version n. A
// folder from before there were versions has version 0, which differs from 1 by the file alone.
var migrations = [StateVersion]func(dir string) error{
	func(string) error { return nil },
}

const versionFile = "version"

// NewerStateError says that a newer release has written the state folder.
type NewerStateError struct {
	Dir     string
	Version int
}

func (e *NewerStateError) Error() string {
	return fmt.Sprintf("the state folder %s has version %d, and this release knows versions up to %d: a newer release wrote it. Install that one, or restore a backup from before the upgrade",
		e.Dir, e.Version, StateVersion)
}

// ReadStateVersion is the version of a state folder: 0 if it has none or doesn't exist. The error is a
// *NewerStateError if this release can't read it.
func ReadStateVersion(dir string) (int, error) {
	text, err := os.ReadFile(filepath.Join(dir, versionFile))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the state folder's version: %w", err)
	}
	v, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || v < 0 {
		return 0, fmt.Errorf("the state folder's file %s says %.20q, which isn't a version: write %d into it", filepath.Join(dir, versionFile), text, StateVersion)
	}
	if v > StateVersion {
		return v, &NewerStateError{dir, v}
	}
	return v, nil
}

// MigrateState brings the state folder to StateVersion. Call it with the folder's lock held. A step that
// fails leaves the version of the last one that didn't.
func MigrateState(dir string) error {
	v, err := ReadStateVersion(dir)
	if err != nil {
		return err
	}
	for ; v < StateVersion; v++ {
		if err := migrations[v](dir); err != nil {
			return fmt.Errorf("bring the state folder %s from version %d to %d: %w", dir, v, v+1, err)
		}
		next := filepath.Join(dir, versionFile+".new")
		if err := os.WriteFile(next, []byte(strconv.Itoa(v+1)+"\n"), 0o600); err != nil {
			return fmt.Errorf("write the state folder's version: %w", err)
		}
		if err := os.Rename(next, filepath.Join(dir, versionFile)); err != nil {
			return fmt.Errorf("write the state folder's version: %w", err)
		}
	}
	return nil
}
