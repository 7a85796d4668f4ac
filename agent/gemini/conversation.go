package gemini

import (
	"io/fs"
	"strings"

	"berth/agent/forks"
)

// ways are the options of a command that choose its conversation.
var ways = map[string]string{"--session-id": "value", "--resume": "may", "-r": "may"}

// conversations are those in both homes.
func (h home) conversations() forks.Chats {
	return forks.Chats{
		Name: "Gemini", Ways: ways, Latest: h.latest,
		Find: func(id string) (spoken, found bool) {
			c, found := h.find(id)
			return c.spoken, found
		},
	}
}

// HasConversation reports whether the conversation has a message.
func (Driver) HasConversation(disk fs.FS, logFiles, conversation string) bool {
	if !forks.UUID.MatchString(conversation) {
		return false
	}
	before, _, _ := strings.Cut(logFiles, "/"+filesName+"/")
	c, ok := home{disk: disk, own: before, users: before}.find(conversation)
	return ok && c.spoken
}
