package qwen

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"berth/agent"
)

// ErrLine is the error for a line that isn't a JSON object.
var ErrLine = errors.New("not a line of Qwen Code's")

// record is a line of the chat file. "system" lines are Qwen Code's own.
type record struct {
	ID      string    `json:"uuid"`
	Session string    `json:"sessionId"`
	Time    time.Time `json:"timestamp"`
	Type    string    `json:"type"`
	From    string    `json:"provenance"`
	Subtype string    `json:"subtype"`
	Model   string    `json:"model"`
	Message struct {
		Parts []part `json:"parts"`
	} `json:"message"`
	Result struct {
		Call   string `json:"callId"`
		Status string `json:"status"`
	} `json:"toolCallResult"`
	Tokens *struct {
		Input    int64 `json:"promptTokenCount"`
		Output   int64 `json:"candidatesTokenCount"`
		Thoughts int64 `json:"thoughtsTokenCount"`
		Cached   int64 `json:"cachedContentTokenCount"`
	} `json:"usageMetadata"`
}

// part is a piece of a message: a text, a call of a tool, or its result.
type part struct {
	Text    string `json:"text"`
	Thought bool   `json:"thought"`
	Call    *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	Response *struct {
		ID       string `json:"id"`
		Response struct {
			Output json.RawMessage `json:"output"`
			Error  string          `json:"error"`
		} `json:"response"`
	} `json:"functionResponse"`
}

// text is the message's text, or its thoughts.
func (r *record) text(thoughts bool) string {
	var all strings.Builder
	for _, p := range r.Message.Parts {
		if p.Thought == thoughts {
			all.WriteString(p.Text)
		}
	}
	return all.String()
}

// Log reads one whole line of the chat file. It starts and ends no turn: the hooks do. It has what an
// answer used.
func (Driver) Log(line []byte) ([]agent.Fact, error) {
	var r record
	if err := json.Unmarshal(line, &r); err != nil {
		return nil, fmt.Errorf("read a line of the chat file: %w: %w", ErrLine, err)
	}
	f := agent.Fact{Kind: agent.Noted, Source: agent.SourceLog, Cause: "log:" + r.Type, At: r.Time, Conversation: r.Session, Evidence: agent.FirstLine(r.text(false))}
	if r.Type == "assistant" {
		f.Kind, f.Activity, f.Text = agent.Acting, &agent.Activity{Kind: agent.Responding}, r.text(false)
		if t := r.Tokens; t != nil && r.ID != "" {
			f.Usage = &agent.Usage{Answer: r.ID, Model: r.Model, Tokens: agent.Tokens{Input: t.Input - t.Cached, CacheRead: t.Cached, Output: t.Output + t.Thoughts}}
		}
	}
	return []agent.Fact{f}, nil
}

// Entries reads the conversation from a line of the chat file.
func (d Driver) Entries(line []byte) (all []agent.Entry) {
	var r record
	if json.Unmarshal(line, &r) != nil {
		return nil
	}
	add := func(kind agent.EntryKind, text string) {
		if text != "" {
			all = append(all, agent.Entry{Kind: kind, At: r.Time, ID: r.ID, Text: text})
		}
	}
	switch r.Type {
	case "user":
		if r.From == "" || r.From == "real_user" {
			add(agent.EntryMessage, r.text(false))
		}
	case "assistant":
		add(agent.EntryThought, r.text(true))
		add(agent.EntryReply, r.text(false))
		for _, p := range r.Message.Parts {
			if p.Call != nil {
				all = append(all, agent.Called(d, r.Time, p.Call.ID, p.Call.Name, p.Call.Args))
			}
		}
	case "tool_result":
		for _, p := range r.Message.Parts {
			if p.Response != nil {
				out := p.Response.Response
				all = append(all, agent.Entry{
					Kind: agent.EntryResult, At: r.Time, Call: p.Response.ID, Text: printed(out.Output) + out.Error, Failed: r.Result.Status != "success",
				})
			}
		}
	}
	return all
}

// printed is what a tool printed: text, or another value.
func printed(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return string(bytes.TrimSpace(raw))
	}
	return text
}
