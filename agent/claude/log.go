package claude

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"berth/agent"
)

// ErrLine is the error for a line that isn't a JSON object.
var ErrLine = errors.New("not a line of Claude's")

// entry is a line of the session log. Lines of the structured output have the same fields.
type entry struct {
	Type        string    `json:"type"`
	Subtype     string    `json:"subtype"`
	Session     string    `json:"sessionId"`
	Turn        string    `json:"promptId"`
	Timestamp   time.Time `json:"timestamp"`
	Sidechain   bool      `json:"isSidechain"`
	Meta        bool      `json:"isMeta"`
	Summary     bool      `json:"isCompactSummary"`
	APIError    bool      `json:"isApiErrorMessage"`
	Error       string    `json:"error"`
	PromptFrom  string    `json:"promptSource"`
	Operation   string    `json:"operation"`
	Content     string    `json:"-"`
	Message     message   `json:"message"`
	RawContent  any       `json:"content"`
	Interrupted string    `json:"interruptedMessageId"`
	Version     string    `json:"version"`
	Dir         string    `json:"cwd"`
	Result      launched  `json:"toolUseResult"`
}

// launched is a tool's result, if the tool has started a task in the background. Other results have other shapes.
type launched struct{ id string }

// UnmarshalJSON never fails.
func (l *launched) UnmarshalJSON(b []byte) error {
	var r struct {
		Status string `json:"status"`
		Agent  string `json:"agentId"`
		Task   string `json:"taskId"`
	}
	if json.Unmarshal(b, &r) == nil && r.Status == "async_launched" {
		l.id = cmp.Or(r.Agent, r.Task, "unnamed")
	}
	return nil
}

// finished is the start of the message that Claude Code writes once such a task is done. The task's own words come after that.
var finished = regexp.MustCompile(`^<task-notification>\s*<task-id>([^<]*)</task-id>`)

// goesOn is in that message of a subagent that may go on by itself.
const goesOn = "It may resume on its own"

func finishes(text string) string {
	id := finished.FindStringSubmatch(text)
	if id == nil || strings.Contains(text, goesOn) {
		return ""
	}
	return id[1]
}

type message struct {
	Content json.RawMessage `json:"content"`
	ID      string          `json:"id"`
	Model   string          `json:"model"`
	Usage   *agent.Tokens   `json:"usage"`
}

// synthetic is the model's name in messages that Claude itself wrote.
const synthetic = "<synthetic>"

// usage is what the answer used; nil if no model wrote it. Each block of an answer is an entry of
// its own with the same numbers.
func (m message) usage() *agent.Usage {
	if m.ID == "" || m.Usage == nil || m.Model == synthetic {
		return nil
	}
	return &agent.Usage{Answer: m.ID, Model: m.Model, Tokens: *m.Usage}
}

type block struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Thinking string          `json:"thinking"`
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Input    json.RawMessage `json:"input"`
	ToolUse  string          `json:"tool_use_id"`
	Error    bool            `json:"is_error"`
	Content  json.RawMessage `json:"content"`
}

// refused reports whether the result is of a denied tool. The lines after it say how the turn
// continues.
func (b block) refused() bool {
	return b.Error && bytes.Contains(b.Content, []byte("The user doesn't want to "))
}

// interrupted starts the message that Claude writes as the user when a turn was interrupted or a
// tool denied.
const interrupted = "[Request interrupted by user"

// Log reads one whole line of the session log. Lines of subagents, and lines without a report about
// the turn, are evidence only.
func (Driver) Log(line []byte) ([]agent.Fact, error) {
	var e entry
	if err := json.Unmarshal(line, &e); err != nil {
		return nil, fmt.Errorf("read a log line: %w: %w", ErrLine, err)
	}
	base := agent.Fact{
		Kind: agent.Noted, Source: agent.SourceLog, Cause: "log:" + e.Type, At: e.Timestamp,
		Conversation: e.Session, Turn: e.Turn, Version: e.Version,
	}
	if e.Sidechain {
		return []agent.Fact{base}, nil
	}
	var facts []agent.Fact
	switch e.Type {
	case "user":
		facts = e.user(base)
	case "assistant":
		base.Usage = e.Message.usage()
		facts = e.assistant(base)
	case "system":
		base.Cause = "log:" + e.Subtype
		if e.Subtype == "turn_duration" {
			base.Kind, base.How = agent.TurnEnded, agent.Completed
		}
	case "queue-operation":
		base.Cause = "log:" + e.Operation
		if text, ok := e.RawContent.(string); ok && e.Operation == "enqueue" {
			base.Finishes = finishes(text)
			base.Kind, base.Text, base.Evidence = agent.Queued, text, agent.FirstLine(text)
		}
	}
	if len(facts) == 0 {
		facts = []agent.Fact{base}
	}
	return facts, nil
}

// blocks are the parts of a message. A bare string is one text block.
func (m message) blocks() []block {
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		return []block{{Type: "text", Text: text}}
	}
	var all []block
	_ = json.Unmarshal(m.Content, &all) // any other shape has no parts
	return all
}

// user reads messages in the user's name: prompts, results of tools, interruptions, and the records
// of commands, which start with a tag.
func (e *entry) user(base agent.Fact) []agent.Fact {
	var facts []agent.Fact
	for _, b := range e.Message.blocks() {
		f := base
		switch {
		case b.Type == "tool_result":
			f.Kind, f.Call, f.Cause, f.Launches = agent.ToolEnded, b.ToolUse, string(f.Source)+":tool_result", e.Result.id
			if b.refused() {
				f.Kind, f.Evidence = agent.Noted, "refused"
			}
		case b.Type != "text" || e.Meta || e.Summary:
			continue
		case strings.HasPrefix(b.Text, interrupted):
			f.Kind, f.How, f.Cause, f.Evidence = agent.TurnEnded, agent.Interrupted, string(f.Source)+":interrupted", b.Text
		case e.Turn == "" || e.PromptFrom == "" && !strings.HasPrefix(b.Text, "<task-notification>"):
			continue
		default:
			f.Kind, f.Text, f.Evidence, f.Finishes = agent.TurnStarted, b.Text, agent.FirstLine(b.Text), finishes(b.Text)
		}
		facts = append(facts, f)
	}
	return facts
}

func (e *entry) assistant(base agent.Fact) []agent.Fact {
	var facts []agent.Fact
	for _, b := range e.Message.blocks() {
		f := base
		f.Kind = agent.Acting
		switch b.Type {
		case "tool_use":
			f.Kind, f.Tool, f.Call, f.Input, f.Evidence = agent.ToolStarted, b.Name, b.ID, b.Input, b.Name
			f.Folder = folderOf(b.Name, e.Dir)
		case "thinking":
			f.Activity = &agent.Activity{Kind: agent.Thinking}
		case "text":
			f.Activity, f.Text, f.Evidence = &agent.Activity{Kind: agent.Responding}, b.Text, agent.FirstLine(b.Text)
			if e.APIError {
				f.Kind, f.Failure, f.Cause = agent.FailureSeen, failure(e.Error, b.Text, b.Text), string(f.Source)+":api_error"
			}
		default:
			continue
		}
		facts = append(facts, f)
	}
	return facts
}
