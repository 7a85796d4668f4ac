// Package userfiles holds what drivers share about the files of an agent's home: it reads the
// user's settings and merges a session's over them. It reads files from an fs.FS whose root is
// / and whose rights are those of the session's user. It writes nothing.
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

	"berth/agent/pattern"
)

// maxSettings bounds a settings file that is merged, in bytes. Users' settings are some
// kilobytes; a larger file is something else.
const maxSettings = 4 << 20

// ErrNoObject is the error for settings that aren't one JSON object.
var ErrNoObject = errors.New("not a JSON object")

// Name converts an absolute path to a name in an fs.FS.
func Name(path string) string {
	if name := strings.Trim(filepath.Clean(path), "/"); name != "" {
		return name
	}
	return "."
}

// ReadSettings reads a settings file by its absolute path. It is an error when that isn't a
// regular file or is longer than 4 MiB.
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

// Object parses settings; its error wraps ErrNoObject. Numbers keep their spelling.
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

// ReadObject reads settings by their absolute path, without what matches but, which may be nil. Without the file they
// are empty.
func ReadObject(disk fs.FS, path string, but *pattern.Pattern) (map[string]any, error) {
	data, err := ReadSettings(disk, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return map[string]any{}, nil
	case err != nil:
		return nil, err
	case but != nil:
		data = []byte(but.ReplaceAllString(string(data), ""))
	}
	return Object(data)
}

// Replace returns the value with each text in it replaced. The text is at the path of its objects' names.
func Replace(value any, with func(text string, path []string) string, path ...string) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out[name] = Replace(v[name], with, append(slices.Clone(path), name)...)
		}
		return out
	case string:
		return with(v, path)
	}
	return value
}

// Merge merges above over below: it merges objects, joins lists with those of below first, and
// replaces any other value. It changes neither argument.
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

// Home is the folder of the user's files of an agent: the one that the variable names, or else name in the user's home.
func Home(env map[string]string, variable, name string) string {
	if dir := env[variable]; dir != "" {
		return filepath.Clean(dir)
	}
	return filepath.Join(env["HOME"], name)
}
