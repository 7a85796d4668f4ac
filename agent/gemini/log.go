package gemini

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"berth/agent"
)

// ErrLine is the error for a line that isn't a JSON object.
var ErrLine = errors.New("not a line of Gemini's")

// record is a line of the chat file: its header, a change of earlier lines ("$set"), or a message.
// A message is written again, under its id, when its tools have ended.
type record struct {
	ID      string          `json:"id"`
	Session string          `json:"sessionId"`
	Set     json.RawMessage `json:"$set"`
	Type    string          `json:"type"`
	Time    time.Time       `json:"timestamp"`
	Content json.RawMessage `json:"content"`
	Calls   []toolCall      `json:"toolCalls"`
	Model   string          `json:"model"`
	Tokens  *tokens         `json:"tokens"`
}

// tokens are the model's counts. The input includes the cached tokens.
type tokens struct {
	Input  int64 `json:"input"`
	Output int64 `json:"output"`
	Cached int64 `json:"cached"`
	Thinks int64 `json:"thoughts"`
}

// usage is what an answer used.
func (r *record) usage() *agent.Usage {
	if r.Tokens == nil || r.ID == "" {
		return nil
	}
	t := r.Tokens
	return &agent.Usage{Answer: r.ID, Model: r.Model, Tokens: agent.Tokens{Input: t.Input - t.Cached, CacheRead: t.Cached, Output: t.Output + t.Thinks}}
}

type toolCall struct {
	Name   string          `json:"name"`
	Args   json.RawMessage `json:"args"`
	Status string          `json:"status"`
	Time   time.Time       `json:"timestamp"`
}

type part struct {
	Text string `json:"text"`
}

// cancelled is Gemini's note about an interruption or a denial.
const cancelled = "Request cancelled."

// Log reads one whole line of the chat file. Messages start no turn: after a denial the file has
// all of them again, as new ones.
func (Driver) Log(line []byte) ([]agent.Fact, error) {
	var r record
	if err := json.Unmarshal(line, &r); err != nil {
		return nil, fmt.Errorf("read a line of the chat file: %w: %w", ErrLine, err)
	}
	f := agent.Fact{Kind: agent.Noted, Source: agent.SourceLog, Cause: "log:" + r.Type, At: r.Time, Conversation: r.Session}
	switch {
	case r.Type == "" && len(r.Set) > 0:
		f.Cause = "log:$set"
	case r.Type == "":
		f.Cause = "log:header"
	case r.Type == "gemini" && len(r.Calls) > 0:
		return r.ended(f), nil
	case r.Type == "info" && r.text() == cancelled:
		f.Kind, f.How, f.Cause, f.Evidence = agent.TurnEnded, agent.Interrupted, "log:cancelled", cancelled
	case r.Type == "gemini":
		f.Kind, f.Activity, f.Text, f.Usage = agent.Acting, &agent.Activity{Kind: agent.Responding}, r.text(), r.usage()
		f.Evidence = agent.FirstLine(f.Text)
	case r.Type == "user" && !strings.HasPrefix(r.text(), preamble) && r.text() != "":
		f.Turn, f.Evidence = r.ID, agent.FirstLine(r.text()) // only the log has ids of turns
	case r.Type == "error":
		f.Kind, f.Failure, f.Evidence = agent.FailureSeen, failure(agent.FirstLine(r.text())), agent.FirstLine(r.text())
	default:
		f.Evidence = agent.FirstLine(r.text())
	}
	return []agent.Fact{f}, nil
}

// ended returns the tool calls that have ended. If one was denied, the note after it says how the
// turn ended.
func (r *record) ended(base agent.Fact) []agent.Fact {
	var facts []agent.Fact
	for _, c := range r.Calls {
		f := base
		f.Kind, f.Tool, f.Input, f.Evidence, f.Cause = agent.ToolEnded, c.Name, c.Args, c.Name+": "+c.Status, "log:tool"
		if !c.Time.IsZero() {
			f.At = c.Time
		}
		if c.Status == "cancelled" {
			f.Kind = agent.Noted
		}
		facts = append(facts, f)
	}
	return facts
}

// text is a message's text: a string, or parts, some with text.
func (r *record) text() string {
	var text string
	if json.Unmarshal(r.Content, &text) == nil {
		return text
	}
	var parts []part
	_ = json.Unmarshal(r.Content, &parts) // other shapes have no text
	for _, p := range parts {
		text += p.Text
	}
	return text
}
