package claude

import (
	"encoding/json"
	"fmt"
	"strings"

	"berth/agent"
)

// streamLine has the fields of structured output that the log lacks.
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
	Version   string `json:"claude_code_version"`

	Usage      *agent.Tokens              `json:"usage"` // of a result
	Turns      int                        `json:"num_turns"`
	ModelUsage map[string]json.RawMessage `json:"modelUsage"`
}

// usage is what the whole turn used. A model's name may include the size of its context, as in
// claude-opus-4-8[1m]; its answers don't.
func (s *streamLine) usage() *agent.Usage {
	if s.Usage == nil || len(s.ModelUsage) == 0 {
		return nil
	}
	u := &agent.Usage{Whole: true, Answers: s.Turns, Tokens: *s.Usage}
	if len(s.ModelUsage) == 1 {
		for name := range s.ModelUsage {
			u.Model, _, _ = strings.Cut(name, "[")
		}
	}
	return u
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
	base := agent.Fact{Kind: agent.Noted, Source: agent.SourceStream, Cause: "stream:" + e.Type, Conversation: s.Session, Version: s.Version}
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
		base.Kind, base.How, base.Text, base.Usage = agent.TurnEnded, agent.Completed, s.Result, s.usage()
		if s.IsError {
			base.How, base.Failure = agent.Failed, failure(e.Error, s.Result, s.Result)
		}
	}
	if len(facts) == 0 {
		facts = []agent.Fact{base}
	}
	return facts, nil
}
