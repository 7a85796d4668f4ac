package claude

import (
	"encoding/json"
	"fmt"

	"berth/agent"
)

// streamLine is what lines of the structured output have beside the log's.
type streamLine struct {
	Session string `json:"session_id"`
	Parent  string `json:"parent_tool_use_id"`
	IsError bool   `json:"is_error"`
	Result  string `json:"result"`
	Request struct {
		Subtype string          `json:"subtype"`
		Tool    string          `json:"tool_name"`
		Input   json.RawMessage `json:"input"`
	} `json:"request"`
	RequestID string `json:"request_id"`
}

// Stream reads one line of -p --output-format stream-json.
func (Driver) Stream(line []byte) ([]agent.Fact, error) {
	var e entry
	var s streamLine
	if err := json.Unmarshal(line, &e); err != nil {
		return nil, fmt.Errorf("read a line of output: %w: %w", ErrLine, err)
	}
	if err := json.Unmarshal(line, &s); err != nil {
		return nil, fmt.Errorf("read a line of output: %w: %w", ErrLine, err)
	}
	base := agent.Fact{Kind: agent.Noted, Source: agent.SourceStream, Cause: "stream:" + e.Type, Conversation: s.Session}
	if s.Parent != "" {
		return []agent.Fact{base}, nil // a subagent's
	}
	var facts []agent.Fact
	switch e.Type {
	case "system":
		base.Cause = "stream:" + e.Subtype
		if e.Subtype == "init" { // once a turn
			start := base
			start.Kind, start.Text = agent.ConversationStarted, "startup"
			base.Kind = agent.TurnStarted
			facts = []agent.Fact{start, base}
		}
	case "assistant":
		facts = e.assistant(base)
	case "user":
		facts = e.user(base)
	case "control_request":
		if s.Request.Subtype == "can_use_tool" {
			base.Kind, base.Tool, base.Input, base.Hook = agent.Asked, s.Request.Tool, s.Request.Input, s.RequestID
			base.Request = request(s.Request.Tool, s.Request.Input, "")
		}
	case "result":
		base.Kind, base.How, base.Text = agent.TurnEnded, agent.Completed, s.Result
		if s.IsError {
			base.How, base.Failure = agent.Failed, failure(e.Error, s.Result, s.Result)
		}
	}
	if len(facts) == 0 {
		facts = []agent.Fact{base}
	}
	return facts, nil
}
