package qwen

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"berth/agent/forks"
	"berth/agent/pattern"
	"berth/agent/userfiles"
)

// chats are the chat files of a home: projects/FOLDER/chats/ID.jsonl.
type chats struct {
	disk fs.FS
	home string
}

func (c chats) conversations() forks.Chats {
	return forks.Chats{Name: "Qwen Code", Ways: ways, Latest: c.latest, Find: c.find}
}

func (c chats) glob(folder, id string) []string {
	if c.disk == nil {
		return nil
	}
	found, _ := fs.Glob(c.disk, path.Join(userfiles.Name(c.home), "projects", folder, "chats", id+".jsonl"))
	return found
}

// find reports whether there is a conversation of that id, and whether it has a message.
func (c chats) find(id string) (spoken, found bool) {
	for _, file := range c.glob("*", id) {
		found = true
		spoken = spoken || c.spoken(file)
	}
	return spoken, found
}

func (c chats) spoken(file string) bool {
	data, err := fs.ReadFile(c.disk, file)
	if err != nil {
		return false
	}
	for line := range bytes.Lines(data) {
		var r record
		if json.Unmarshal(line, &r) == nil && r.Type == "user" {
			return true
		}
	}
	return false
}

// munged matches what Qwen Code replaces by a dash in the name of a folder's chats.
var munged = pattern.New(`[^a-zA-Z0-9]`)

// latest is the conversation of a folder that was written last.
func (c chats) latest(cwd string) string {
	return forks.Newest(c.disk, c.glob(munged.ReplaceAllString(cwd, "-"), "*"), func(file string) string {
		id := strings.TrimSuffix(path.Base(file), ".jsonl")
		if !forks.UUID.MatchString(id) || !c.spoken(file) {
			return ""
		}
		return id
	})
}

// HasConversation reports whether the conversation has a message.
func (Driver) HasConversation(disk fs.FS, logFiles, conversation string) bool {
	if !forks.UUID.MatchString(conversation) {
		return false
	}
	home := filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(logFiles))))
	spoken, _ := chats{disk, home}.find(conversation)
	return spoken
}
