package gemini

import (
	"cmp"
	"encoding/json"
	"io/fs"
	"path/filepath"
	"strings"

	"berth/agent/forks"
)

// ways are the options of a command that choose its conversation.
var ways = map[string]string{"--session-id": "value", "--resume": "may", "-r": "may"}

// conversations are those in both homes: .gemini/tmp/NAME/chats/session-TIME-ID8.jsonl.
func (h home) conversations() forks.Chats {
	return forks.Chats{
		Name: "Gemini", Ways: ways, Resumes: "--resume", Disk: h.disk, Read: readChat,
		Of: func(id string) (all []string) {
			for _, dir := range []string{h.own, h.users} {
				all = append(all, filepath.Join(dir, filesName, "tmp", "*", "chats", "session-*-"+id[:8]+".jsonl"))
			}
			return all
		},
		In: func(cwd string) (all []string) {
			for _, dir := range []string{h.own, h.users} {
				of := func(root string) bool { return strings.TrimSpace(root) == cwd }
				for _, project := range forks.FoldersWith(h.disk, filepath.Join(dir, filesName, "tmp", "*", rootName), of) {
					all = append(all, filepath.Join(project, "chats", "session-*.jsonl"))
				}
			}
			return all
		},
	}
}

// preamble starts the message that Gemini itself puts first.
const preamble = "<session_context>"

// readChat gives the conversation of a chat file, and whether it has a message of the user.
func readChat(_ string, data []byte) (id string, spoken bool) {
	spoken = forks.Spoken(data, func(line []byte) bool {
		var r record
		if json.Unmarshal(line, &r) != nil {
			return false
		}
		id = cmp.Or(id, r.Session)
		return r.Type == "user" && !strings.HasPrefix(r.text(), preamble)
	})
	return id, spoken
}

// HasConversation reports whether the conversation has a message.
func (Driver) HasConversation(disk fs.FS, logFiles, conversation string) bool {
	before, _, _ := strings.Cut(logFiles, "/"+filesName+"/")
	return home{disk: disk, own: before, users: before}.conversations().Has(conversation)
}
