// Package userfiles is what drivers share about the files of an agent's home: reading the
// user's settings and laying a session's over them. Files are read from an fs.FS whose
// root is /, which has the rights of the session's user. Nothing is written.
package userfiles

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// maxSettings bounds a file of settings that is merged, in bytes. Settings of users are
// some kilobytes; a larger file is not one.
const maxSettings = 4 << 20

// ErrNoObject is the error for settings that are not one JSON object.
var ErrNoObject = errors.New("not a JSON object")

// Name is an absolute path as an fs.FS names it.
func Name(path string) string {
	if name := strings.Trim(filepath.Clean(path), "/"); name != "" {
		return name
	}
	return "."
}

// ReadSettings reads a file of settings by its absolute path. It is an error when that
// is not a regular file or longer than 4 MiB.
func ReadSettings(disk fs.FS, path string) ([]byte, error) {
	info, err := fs.Stat(disk, Name(path))
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSettings {
		return nil, fmt.Errorf("read %s: not a regular file of at most %d bytes", path, maxSettings)
	}
	return fs.ReadFile(disk, Name(path))
}

// Object reads settings; its error wraps ErrNoObject. Numbers stay as they are written.
func Object(data []byte) (map[string]any, error) {
	var object map[string]any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&object); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoObject, err)
	}
	if object == nil {
		return nil, ErrNoObject
	}
	return object, nil
}

// Merge lays settings over others: groups are merged, lists are joined with those below
// first, and any other value is replaced. Neither argument is changed.
func Merge(below, above map[string]any) map[string]any {
	all := map[string]any{}
	maps.Copy(all, below)
	for name, value := range above {
		switch value := value.(type) {
		case map[string]any:
			if old, ok := all[name].(map[string]any); ok {
				all[name] = Merge(old, value)
				continue
			}
		case []any:
			if old, ok := all[name].([]any); ok {
				all[name] = slices.Concat(old, value)
				continue
			}
		}
		all[name] = value
	}
	return all
}
