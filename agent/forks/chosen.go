package forks

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"berth/agent"
	"berth/agent/userfiles"
)

// Chosen are the conversations of an agent that chooses their ids itself.
type Chosen struct {
	Name   string            // the agent's, for errors
	Ways   map[string]string // as of Chats
	Resume string            // the word before the id of one that is resumed
	Latest []string          // the words that resume the folder's newest one
	Has    func(id string) bool
	// Known reports whether one that isn't the session's own may be there.
	Known func(id string) bool
	Fork  func(id string) []string // the words that fork one; none if it isn't there
}

// Choose sets the launch's conversation, and adds the words that resume or fork it after the words of others. The
// command's own options were for the first start. A conversation without a message doesn't exist yet: a new one replaces
// it.
func (c Chosen) Choose(l *agent.Launch, s agent.Start, others ...string) error {
	var words []string
	id := s.ResumeID
	switch {
	case s.Fork != "":
		if words = c.Fork(s.Fork); words == nil {
			return c.none(s.Fork)
		}
	case s.Resume && c.Has(s.Conversation):
		words, l.Conversation = []string{c.Resume, s.Conversation}, s.Conversation
	case s.Resume || id == "":
	case id == agent.Latest:
		words = c.Latest
	case !c.Known(id):
		return c.none(id)
	default:
		words, l.Conversation = []string{c.Resume, id}, id
	}
	if len(words) > 0 {
		l.Argv = Without(l.Argv, c.Ways)
	}
	l.Argv = slices.Insert(l.Argv, min(1, len(l.Argv)), append(others, words...)...)
	return nil
}

func (c Chosen) none(id string) error {
	return fmt.Errorf("%w: %s has none with the id %s", agent.ErrNoConversation, c.Name, id)
}

// LogOf is the name of the conversation's file on the disk, which may be nil. logFiles is its path, with %s for the id.
func LogOf(disk fs.FS, logFiles, conversation string) (name string, ok bool) {
	if disk == nil || conversation == "" || strings.ContainsAny(conversation, `/*?[\`) {
		return "", false
	}
	found, err := fs.Glob(disk, userfiles.Name(strings.ReplaceAll(logFiles, "%s", conversation)))
	if err != nil || len(found) == 0 {
		return "", false
	}
	return found[0], true
}
