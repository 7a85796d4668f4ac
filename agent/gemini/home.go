package gemini

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"berth/agent"
	"berth/agent/forks"
	"berth/agent/userfiles"
)

// homeVariable names the folder that has Gemini's .gemini. It overrides HOME.
const homeVariable = "GEMINI_CLI_HOME"

// Files of that folder.
const (
	filesName    = ".gemini"
	settingsName = "settings.json"
	rootName     = ".project_root" // in the folder of a project's chats: its path
)

// shared are the files of a login. A session's own home has them too.
var shared = []string{"gemini-credentials.json", "oauth_creds.json", "google_accounts.json"}

// home is the session's own home, and the user's.
type home struct {
	disk       fs.FS
	own, users string
}

func usersHome(env map[string]string) string {
	if dir := env[homeVariable]; dir != "" {
		return dir
	}
	return env["HOME"]
}

// make creates the home: links to the user's files, and the session's own settings.
func (h home) make(l *agent.Launch, s agent.Start) error {
	dir := filepath.Join(h.own, filesName)
	l.Folders = []string{h.own, dir}
	l.Links = map[string]string{}
	for _, name := range h.toLink(s.Isolate == agent.IsolateFull) {
		l.Links[filepath.Join(dir, name)] = filepath.Join(h.users, filesName, name)
	}
	data, err := h.settings(s)
	if err != nil {
		return err
	}
	l.Files = map[string][]byte{filepath.Join(dir, settingsName): data}
	return nil
}

// toLink are the user's files that the session shares: all of them, or only the login's.
func (h home) toLink(full bool) []string {
	if full {
		return shared
	}
	if h.disk == nil {
		return nil
	}
	entries, err := fs.ReadDir(h.disk, userfiles.Name(filepath.Join(h.users, filesName)))
	if err != nil {
		return nil // the user has no .gemini yet
	}
	var names []string
	for _, e := range entries {
		if e.Name() != settingsName {
			names = append(names, e.Name())
		}
	}
	return names
}

func (h home) usersSettings() (map[string]any, error) {
	given := map[string]any{}
	if h.disk == nil {
		return given, nil
	}
	file := filepath.Join(h.users, filesName, settingsName)
	data, err := userfiles.ReadSettings(h.disk, file)
	if errors.Is(err, fs.ErrNotExist) {
		return given, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: Gemini's settings can't be read: %w", agent.ErrStart, err)
	}
	if given, err = userfiles.Object(data); err != nil {
		return nil, fmt.Errorf("%w: %s: %w; take comments out of it, or write isolate: none or full", agent.ErrStart, file, err)
	}
	return given, nil
}

// chats finds the chat files of one project's name, or of all projects, in both homes:
// .gemini/tmp/NAME/chats/session-TIME-ID8.jsonl.
func (h home) chats(project, tail string) []string {
	if h.disk == nil {
		return nil
	}
	var found []string
	for _, dir := range []string{h.own, h.users} {
		names, _ := fs.Glob(h.disk, path.Join(userfiles.Name(filepath.Join(dir, filesName)), "tmp", project, "chats", "session-*"+tail+".jsonl"))
		found = append(found, names...)
	}
	return found
}

// chat is what a chat file contains.
type chat struct {
	id     string
	spoken bool // it has a message of the user
}

// preamble starts the message that Gemini itself puts first.
const preamble = "<session_context>"

func (h home) read(file string) (c chat, ok bool) {
	data, err := fs.ReadFile(h.disk, file)
	if err != nil {
		return c, false
	}
	for line := range bytes.Lines(data) {
		var r record
		if json.Unmarshal(line, &r) != nil {
			continue
		}
		if c.id == "" {
			c.id = r.Session
		}
		if c.spoken = r.Type == "user" && !strings.HasPrefix(r.text(), preamble); c.spoken {
			break
		}
	}
	return c, c.id != ""
}

// find is the conversation with that id.
func (h home) find(id string) (c chat, ok bool) {
	for _, file := range h.chats("*", "-"+id[:min(8, len(id))]) {
		if c, ok := h.read(file); ok && c.id == id {
			return c, true
		}
	}
	return chat{}, false
}

// latest is the conversation of a folder that was written last.
func (h home) latest(cwd string) string {
	var files []string
	for _, dir := range []string{h.own, h.users} {
		if project := h.project(dir, cwd); project != "" {
			files = append(files, h.chats(project, "")...)
		}
	}
	return forks.Newest(h.disk, files, func(file string) string {
		if c, ok := h.read(file); ok && c.spoken {
			return c.id
		}
		return ""
	})
}

// project is the name that Gemini gave to a folder.
func (h home) project(dir, cwd string) string {
	if h.disk == nil {
		return ""
	}
	roots, _ := fs.Glob(h.disk, path.Join(userfiles.Name(filepath.Join(dir, filesName)), "tmp", "*", rootName))
	for _, file := range roots {
		if data, err := fs.ReadFile(h.disk, file); err == nil && strings.TrimSpace(string(data)) == cwd {
			return path.Base(path.Dir(file))
		}
	}
	return ""
}
