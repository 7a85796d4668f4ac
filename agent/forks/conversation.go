package forks

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"berth/agent"
	"berth/agent/pattern"
	"berth/agent/userfiles"
)

// UUID matches the id of a conversation.
var UUID = pattern.New(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// Chats are the conversations that the agent has kept.
type Chats struct {
	Name string // the agent's, for errors
	// Ways are the options of the command that choose a conversation: whether each takes a value
	// ("value"), may take one ("may") or takes none ("").
	Ways    map[string]string
	Resumes string // the option that resumes one
	Disk    fs.FS  // nil: no conversation is found
	// Of are the patterns of the files that may be the conversation's, and In those of a folder's files.
	Of, In func(of string) []string
	// Read gives the conversation of a file, and whether it has a message; no id if the file doesn't count.
	Read func(file string, data []byte) (id string, spoken bool)
}

// Spoken reports whether a line of the chat file is a message of the user. It reads no further then.
func Spoken(data []byte, is func(line []byte) bool) bool {
	for line := range bytes.Lines(data) {
		if is(line) {
			return true
		}
	}
	return false
}

// files are the files with these patterns.
func (c Chats) files(patterns []string) (all []string) {
	for _, pattern := range patterns {
		found, _ := fs.Glob(c.Disk, userfiles.Name(pattern)) // its only error is a bad pattern
		all = append(all, found...)
	}
	return all
}

func (c Chats) read(file string) (id string, spoken bool) {
	data, err := fs.ReadFile(c.Disk, file)
	if err != nil {
		return "", false
	}
	return c.Read(file, data)
}

// find reports whether there is a conversation of that id, and whether it has a message.
func (c Chats) find(id string) (spoken, found bool) {
	if c.Disk == nil || !UUID.MatchString(id) {
		return false, false
	}
	for _, file := range c.files(c.Of(id)) {
		if one, said := c.read(file); one == id {
			spoken, found = spoken || said, true
		}
	}
	return spoken, found
}

// Has reports whether the conversation has a message.
func (c Chats) Has(id string) bool {
	spoken, _ := c.find(id)
	return spoken
}

// latest is the folder's conversation with a message that was written last; empty without one.
func (c Chats) latest(cwd string) (newest string) {
	if c.Disk == nil {
		return ""
	}
	at := int64(0)
	for _, file := range c.files(c.In(cwd)) {
		info, err := fs.Stat(c.Disk, file)
		if err != nil || info.ModTime().UnixNano() <= at {
			continue
		}
		if id, spoken := c.read(file); spoken && UUID.MatchString(id) {
			newest, at = id, info.ModTime().UnixNano()
		}
	}
	return newest
}

// FoldersWith are the folders of the files whose text is such a one. disk may be nil.
func FoldersWith(disk fs.FS, pattern string, is func(text string) bool) (all []string) {
	if disk == nil {
		return nil
	}
	files, _ := fs.Glob(disk, userfiles.Name(pattern)) // its only error is a bad pattern
	for _, file := range files {
		if data, err := fs.ReadFile(disk, file); err == nil && is(string(data)) {
			all = append(all, path.Dir(file))
		}
	}
	return all
}

// Choose sets the launch's conversation, and adds the words that choose it after the words of others. One with messages
// is resumed, whatever the command says: the command's option was for the first start.
func (c Chats) Choose(l *agent.Launch, s agent.Start, others ...string) error {
	words, err := c.choose(l, s)
	l.Argv = slices.Insert(l.Argv, min(1, len(l.Argv)), append(others, words...)...)
	return err
}

func (c Chats) choose(l *agent.Launch, s agent.Start) ([]string, error) {
	for _, id := range []string{s.Conversation, s.ResumeID} {
		if id != "" && id != agent.Latest && !UUID.MatchString(id) {
			return nil, fmt.Errorf("%w: %q isn't a valid conversation id: %s's look like 11111111-2222-4333-8444-555555555555", agent.ErrStart, id, c.Name)
		}
	}
	if s.Fork != "" {
		return nil, fmt.Errorf("%w: Berth can't fork the conversations of %s", agent.ErrStart, c.Name)
	}
	argv, given := without(s.Argv, c.Ways)
	spoken, found := false, false
	if s.Conversation != "" {
		spoken, found = c.find(s.Conversation)
	}
	switch {
	case s.Resume && found:
		l.Argv, l.Conversation = argv, s.Conversation
		return []string{c.Resumes, s.Conversation}, nil
	case s.ResumeID != "":
		l.Argv = argv
		return c.takeUp(l, s)
	case given.name != "":
		if UUID.MatchString(given.value) {
			l.Conversation = given.value
		}
		return nil, nil
	case s.Conversation == "":
		return nil, nil
	case spoken:
		return nil, fmt.Errorf("%w: the conversation %s is there already; take it up with resume", agent.ErrStart, s.Conversation)
	case found: // Gemini CLI creates the file before the first message, and accepts an id only once
		l.Conversation = s.Conversation
		return []string{c.Resumes, s.Conversation}, nil
	}
	l.Conversation = s.Conversation
	return []string{"--session-id", s.Conversation}, nil
}

// takeUp resumes an existing conversation.
func (c Chats) takeUp(l *agent.Launch, s agent.Start) ([]string, error) {
	id := s.ResumeID
	if id == agent.Latest {
		if id = c.latest(s.Cwd); id == "" {
			return nil, fmt.Errorf("%w: %s has none of the folder %s", agent.ErrNoConversation, c.Name, s.Cwd)
		}
	} else if _, ok := c.find(id); !ok {
		return nil, fmt.Errorf("%w: %s has no %s", agent.ErrNoConversation, c.Name, id)
	}
	l.Conversation = id
	return []string{c.Resumes, id}, nil
}

// Without is the command without the options that choose its conversation; see Ways.
func Without(argv []string, ways map[string]string) []string {
	rest, _ := without(argv, ways)
	return rest
}

type option struct{ name, value string }

// without is the command without the options that choose its conversation, and the last of those
// options.
func without(argv []string, ways map[string]string) (rest []string, last option) {
	for i := 0; i < len(argv); i++ {
		if argv[i] == "--" {
			return append(rest, argv[i:]...), last
		}
		name, value, has := strings.Cut(argv[i], "=")
		takes, known := ways[name]
		if i == 0 || !known {
			rest = append(rest, argv[i])
			continue
		}
		last = option{name, value}
		next := i+1 < len(argv) && (takes == "value" || takes == "may" && !strings.HasPrefix(argv[i+1], "-"))
		if !has && next {
			i++
			last.value = argv[i]
		}
	}
	return slices.Clone(rest), last
}
