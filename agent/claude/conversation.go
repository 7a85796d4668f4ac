package claude

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"berth/agent"
	"berth/agent/pattern"
	"berth/agent/userfiles"
)

// ways are the options of a command that choose its conversation.
var ways = []string{"--session-id", "--resume", "--continue", "--fork-session", "--from-pr"}

var uuid = pattern.New(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// addConversation sets the conversation. One with messages is resumed, whatever the command says:
// the command's option was for the first start.
func addConversation(l *agent.Launch, s agent.Start, o *options, config string) ([]string, error) {
	logs := logs{s.Disk, config}
	for _, id := range []string{s.Conversation, s.ResumeID, s.Fork} {
		if id != "" && id != agent.Latest && !uuid.MatchString(id) {
			return nil, fmt.Errorf("%w: %q isn't a valid conversation id: Claude Code's look like 11111111-2222-4333-8444-555555555555", agent.ErrStart, id)
		}
	}
	switch {
	case s.Resume && s.Conversation != "" && logs.said(s.Conversation):
		o.drop(ways...)
		l.Conversation = s.Conversation
		return []string{"--resume", s.Conversation}, nil
	case s.ResumeID != "":
		o.drop(ways...)
		return takeUp(l, s, logs)
	case s.Fork != "":
		o.drop(ways...)
		return fork(l, s, logs)
	case o.has(ways...):
		if one, ok := o.last("--session-id"); ok {
			l.Conversation = one.value
		}
		if one, ok := o.last("--resume"); ok && !o.has("--fork-session") && uuid.MatchString(one.value) {
			l.Conversation = one.value
		}
		return nil, nil
	case s.Conversation == "":
		return nil, nil
	case logs.find(s.Conversation) == "":
		l.Conversation = s.Conversation
	case s.Resume: // Claude was killed before it wrote a message: the id is in use, and nothing can be resumed
		l.Conversation = s.Fresh
	default:
		return nil, fmt.Errorf("%w: the conversation %s is there already; take it up with resume", agent.ErrStart, s.Conversation)
	}
	return []string{"--session-id", l.Conversation}, nil
}

// takeUp resumes an existing conversation.
func takeUp(l *agent.Launch, s agent.Start, logs logs) ([]string, error) {
	id := s.ResumeID
	if id == agent.Latest {
		if id = logs.latest(s.Cwd); id == "" {
			return nil, fmt.Errorf("%w: Claude Code has none of the folder %s in %s", agent.ErrNoConversation, s.Cwd, logs.config)
		}
	} else if !logs.said(id) {
		return nil, fmt.Errorf("%w: Claude Code has no %s in %s", agent.ErrNoConversation, id, logs.config)
	}
	l.Conversation = id
	return []string{"--resume", id}, nil
}

// fork starts as a fork of another conversation, with an id of its own.
func fork(l *agent.Launch, s agent.Start, own logs) ([]string, error) {
	if !own.said(s.Fork) {
		// If the session has a home of its own, so has the other session.
		others := logs{s.Disk, filepath.Join(s.ForkFolder, homeName)}
		found := others.find(s.Fork)
		if s.Isolate != agent.IsolateFull || s.ForkFolder == "" || found == "" {
			return nil, fmt.Errorf("%w: Claude Code has no %s in %s", agent.ErrNoConversation, s.Fork, own.config)
		}
		folder := filepath.Join(own.config, "projects", munge(s.Cwd))
		l.Folders = append(l.Folders, filepath.Dir(folder), folder)
		l.Copies = map[string]string{filepath.Join(folder, s.Fork+".jsonl"): found}
	}
	l.Conversation = s.Conversation
	return []string{"--resume", s.Fork, "--fork-session", "--session-id", s.Conversation}, nil
}

// logs are the session logs of a home: projects/FOLDER/ID.jsonl. Claude creates one with the first
// message.
type logs struct {
	disk   fs.FS
	config string
}

// HasConversation reports whether the conversation has a log.
func (Driver) HasConversation(disk fs.FS, logFiles, conversation string) bool {
	return uuid.MatchString(conversation) && logs{disk, filepath.Dir(filepath.Dir(filepath.Dir(logFiles)))}.said(conversation)
}

// find is the path of a conversation's log; empty without one.
func (l logs) find(id string) string {
	if l.disk == nil {
		return ""
	}
	root := userfiles.Name(filepath.Join(l.config, "projects"))
	folders, err := fs.ReadDir(l.disk, root)
	if err != nil {
		return ""
	}
	for _, f := range folders {
		name := path.Join(root, f.Name(), id+".jsonl")
		if info, err := fs.Stat(l.disk, name); err == nil && info.Mode().IsRegular() {
			return "/" + name
		}
	}
	return ""
}

// saidWithin is how far into a log the first message is searched for. It comes after some lines of
// 100 bytes and the attachments of the start.
const saidWithin = 4 << 20

// messages are fields that only lines with a message have.
var messages = [][]byte{[]byte(`"type":"user"`), []byte(`"type":"assistant"`)}

// said reports whether the conversation's log has a message. A Claude that was killed may leave a
// log without one, and can't resume it.
func (l logs) said(id string) bool {
	name := l.find(id)
	if name == "" {
		return false
	}
	f, err := l.disk.Open(userfiles.Name(name))
	if err != nil {
		return false
	}
	defer f.Close()
	in := bufio.NewReaderSize(io.LimitReader(f, saidWithin), 64<<10)
	for {
		line, err := in.ReadSlice('\n')
		for _, m := range messages {
			if bytes.Contains(line, m) {
				return true
			}
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return false
		}
	}
}

// latest is the conversation of a folder that was written last.
func (l logs) latest(cwd string) string {
	if l.disk == nil {
		return ""
	}
	entries, err := fs.ReadDir(l.disk, path.Join(userfiles.Name(filepath.Join(l.config, "projects")), munge(cwd)))
	if err != nil {
		return ""
	}
	newest, at := "", time.Time{}
	for _, e := range entries {
		id, isLog := strings.CutSuffix(e.Name(), ".jsonl")
		if !isLog || !uuid.MatchString(id) {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && (newest == "" || info.ModTime().After(at)) && l.said(id) {
			newest, at = id, info.ModTime()
		}
	}
	return newest
}

// mungedMost is the length of a folder's name from which it ends in a hash.
const mungedMost = 200

// munge is the name of the folder where Claude keeps a working folder's logs: each UTF-16 unit that
// isn't an ASCII letter or digit becomes a dash.
func munge(cwd string) string {
	units := utf16.Encode([]rune(cwd))
	name := make([]byte, 0, len(units))
	var hash int32
	for _, u := range units {
		hash = hash*31 + int32(u)
		if u >= 'a' && u <= 'z' || u >= 'A' && u <= 'Z' || u >= '0' && u <= '9' {
			name = append(name, byte(u))
		} else {
			name = append(name, '-')
		}
	}
	if len(name) <= mungedMost {
		return string(name)
	}
	h := int64(hash)
	if h < 0 {
		h = -h
	}
	return string(name[:mungedMost]) + "-" + strconv.FormatInt(h, 36)
}
