package qwen

import (
	"encoding/json"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"berth/agent/forks"
	"berth/agent/pattern"
)

// conversations are those of a home: projects/FOLDER/chats/ID.jsonl.
func conversations(disk fs.FS, home string) forks.Chats {
	files := func(folder, id string) []string {
		return []string{filepath.Join(home, "projects", folder, "chats", id+".jsonl")}
	}
	return forks.Chats{
		Name: "Qwen Code", Ways: ways, Resumes: "--resume", Disk: disk, Read: readChat,
		Of: func(id string) []string { return files("*", id) },
		In: func(cwd string) []string { return files(munged.ReplaceAllString(cwd, "-"), "*") },
	}
}

// readChat gives the conversation of a chat file, and whether it has a message of the user.
func readChat(file string, data []byte) (id string, spoken bool) {
	return strings.TrimSuffix(path.Base(file), ".jsonl"), forks.Spoken(data, func(line []byte) bool {
		var r record
		return json.Unmarshal(line, &r) == nil && r.Type == "user"
	})
}

// munged matches what Qwen Code replaces by a dash in the name of a folder's chats.
var munged = pattern.New(`[^a-zA-Z0-9]`)

// HasConversation reports whether the conversation has a message.
func (Driver) HasConversation(disk fs.FS, logFiles, conversation string) bool {
	home, _, _ := strings.Cut(logFiles, "/projects/*/")
	return conversations(disk, home).Has(conversation)
}
