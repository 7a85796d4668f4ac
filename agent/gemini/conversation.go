package gemini

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"berth/agent"
	"berth/agent/pattern"
)

var uuid = pattern.New(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// ways are the options of a command that choose its conversation, and whether each takes a value.
var ways = map[string]string{"--session-id": "value", "--resume": "may", "-r": "may"}

// addConversation sets the conversation. One with messages is resumed, whatever the command says:
// the command's option was for the first start.
func addConversation(l *agent.Launch, s agent.Start, h home) ([]string, error) {
	for _, id := range []string{s.Conversation, s.ResumeID} {
		if id != "" && id != agent.Latest && !uuid.MatchString(id) {
			return nil, fmt.Errorf("%w: %q isn't a valid conversation id: Gemini's look like 11111111-2222-4333-8444-555555555555", agent.ErrStart, id)
		}
	}
	if s.Fork != "" {
		return nil, fmt.Errorf("%w: Gemini makes no copies of conversations", agent.ErrStart)
	}
	argv, given := without(s.Argv)
	there := chat{}
	found := false
	if s.Conversation != "" {
		there, found = h.find(s.Conversation)
	}
	switch {
	case s.Resume && found:
		l.Argv, l.Conversation = argv, s.Conversation
		return []string{"--resume", s.Conversation}, nil
	case s.ResumeID != "":
		l.Argv = argv
		return takeUp(l, s, h)
	case given.name != "":
		if uuid.MatchString(given.value) {
			l.Conversation = given.value
		}
		return nil, nil
	case s.Conversation == "":
		return nil, nil
	case found && there.spoken:
		return nil, fmt.Errorf("%w: the conversation %s is there already; take it up with resume", agent.ErrStart, s.Conversation)
	case found: // Gemini creates the file before the first message, and accepts an id only once
		l.Conversation = s.Conversation
		return []string{"--resume", s.Conversation}, nil
	}
	l.Conversation = s.Conversation
	return []string{"--session-id", s.Conversation}, nil
}

// takeUp resumes an existing conversation.
func takeUp(l *agent.Launch, s agent.Start, h home) ([]string, error) {
	id := s.ResumeID
	if id == agent.Latest {
		if id = h.latest(s.Cwd); id == "" {
			return nil, fmt.Errorf("%w: Gemini has none of the folder %s", agent.ErrNoConversation, s.Cwd)
		}
	} else if _, ok := h.find(id); !ok {
		return nil, fmt.Errorf("%w: Gemini has no %s", agent.ErrNoConversation, id)
	}
	l.Conversation = id
	return []string{"--resume", id}, nil
}

type option struct{ name, value string }

// without is the command without the options that choose its conversation, and the last of those
// options.
func without(argv []string) (rest []string, last option) {
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
		next := i+1 < len(argv) && (takes == "value" || !strings.HasPrefix(argv[i+1], "-"))
		if !has && next {
			i++
			last.value = argv[i]
		}
	}
	return slices.Clone(rest), last
}

// HasConversation reports whether the conversation has a message.
func (Driver) HasConversation(disk fs.FS, logFiles, conversation string) bool {
	if !uuid.MatchString(conversation) {
		return false
	}
	before, _, _ := strings.Cut(logFiles, "/"+filesName+"/")
	c, ok := home{disk: disk, own: before, users: before}.find(conversation)
	return ok && c.spoken
}
