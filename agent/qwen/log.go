package qwen

import (
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
	Message struct {
		Parts []part `json:"parts"`
	} `json:"message"`
	Result struct {
		Call   string `json:"callId"`
		Status string `json:"status"`
	} `json:"toolCallResult"`
	System struct {
		Event struct {
			Name     string `json:"event.name"`
			Turn     string `json:"prompt_id"`
			Response string `json:"response_id"`
			Model    string `json:"model"`
			Input    int64  `json:"input_token_count"`
			Output   int64  `json:"output_token_count"`
			Cached   int64  `json:"cached_content_token_count"`
			Thoughts int64  `json:"thoughts_token_count"`
		} `json:"uiEvent"`
	} `json:"systemPayload"`
}

// answered is the record of an answer of the model. Its turn has the conversation's id and this mark; what
// Qwen Code asks the model for itself has another one.
const (
	answered = "qwen-code.api_response"
	turnMark = "########"
)

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

// openCalls: all calls of a step ask before one of them runs.
var openCalls = agent.OpenCalls{
	Results:  []string{"log:tool_result"},
	AnyOrder: true,
	Quiet:    map[string]bool{"todo_write": true, "task": true, "agent": true},
}

func (Driver) OpenCalls() agent.OpenCalls { return openCalls }

// NamesOpen: a call whose dialog was never on the screen may be below another one's. A permission's dialog that names no measured tool is
// like every call of another tool.
func (Driver) NamesOpen(d *agent.Dialog, _ string, _ json.RawMessage, shown agent.Match) bool {
	return shown == agent.NoMatch || d.Type == agent.PromptPermission && d.Tool == ""
}

// Log reads one whole line of the chat file: what an answer used, the calls of an answer, which are written before
// any of them asks, and the last answer of a turn, which calls no tool. The turns themselves are known by the hooks.
func (Driver) Log(line []byte) ([]agent.Fact, error) {
	var r record
	if err := json.Unmarshal(line, &r); err != nil {
		return nil, fmt.Errorf("read a line of the chat file: %w: %w", ErrLine, err)
	}
	f, calls := agent.Fact{Kind: agent.Noted, Source: agent.SourceLog, Cause: "log:" + r.Type, At: r.Time, Conversation: r.Session, Call: r.Result.Call, Evidence: agent.FirstLine(r.text(false))}, []agent.Fact{}
	switch u := r.System.Event; {
	case u.Name == answered && u.Response != "" && strings.HasPrefix(u.Turn, r.Session+turnMark):
		f.Turn, f.Usage = u.Turn, &agent.Usage{Answer: u.Response, Model: u.Model, Tokens: agent.Tokens{Input: u.Input - u.Cached, CacheRead: u.Cached, Output: u.Output + u.Thoughts}}
	case r.Type == "assistant":
		f.Kind, f.How, f.Text = agent.TurnEnded, agent.Completed, r.text(false)
		for _, p := range r.Message.Parts {
			if p.Call != nil { // any process can end a call's hook and send another one, so dialogs are compared with these too
				f.Kind, f.How, f.Activity = agent.Acting, "", &agent.Activity{Kind: agent.Responding}
				calls = append(calls, f.Starting(p.Call.ID, p.Call.Name, p.Call.Args, request(p.Call.Name, p.Call.Args, "")))
			}
		}
	}
	return append([]agent.Fact{f}, calls...), nil
}

// Entries reads the conversation from a line of the chat file.
func (d Driver) Entries(line []byte) (all []agent.Entry) {
	var r record
	if json.Unmarshal(line, &r) != nil {
		return nil
	}
	add := func(kind agent.EntryKind, text string) {
		all = append(all, agent.Entry{Kind: kind, At: r.Time, ID: r.ID, Text: text})
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
					Kind: agent.EntryResult, At: r.Time, Call: p.Response.ID, Text: agent.Printed(out.Output) + out.Error, Failed: r.Result.Status != "success",
				})
			}
		}
	}
	return agent.Spoken(all...)
}
