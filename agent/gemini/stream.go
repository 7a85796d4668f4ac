package gemini

import (
	"encoding/json"
	"fmt"

	"berth/agent"
)

// streamed is a line of the structured output.
type streamed struct {
	Type    string          `json:"type"`
	Session string          `json:"session_id"`
	Role    string          `json:"role"`
	Content string          `json:"content"`
	Tool    string          `json:"tool_name"`
	Call    string          `json:"tool_id"`
	Input   json.RawMessage `json:"parameters"`
	Status  string          `json:"status"`
	Error   struct {
		Message string `json:"message"`
	} `json:"error"`
}

// Stream reads one line of -p --output-format stream-json: a single turn without prompts.
func (Driver) Stream(line []byte) ([]agent.Fact, error) {
	var s streamed
	if err := json.Unmarshal(line, &s); err != nil {
		return nil, fmt.Errorf("read a line of output: %w: %w", ErrLine, err)
	}
	f := agent.Fact{
		Kind: agent.Noted, Source: agent.SourceStream, Cause: "stream:" + s.Type, Conversation: s.Session,
		Tool: s.Tool, Call: s.Call, Input: s.Input,
	}
	switch s.Type {
	case "init":
		f.Kind, f.Text = agent.ConversationStarted, "startup"
	case "message":
		f.Evidence = agent.FirstLine(s.Content)
		if s.Role == "user" {
			f.Kind, f.Text = agent.TurnStarted, s.Content
		} else {
			f.Kind, f.Activity = agent.Acting, &agent.Activity{Kind: agent.Responding}
		}
	case "tool_use":
		f.Kind, f.Evidence = agent.ToolStarted, s.Tool
	case "tool_result":
		f.Kind, f.Evidence = agent.ToolEnded, s.Status
	case "result":
		f.Kind, f.How, f.Evidence = agent.TurnEnded, agent.Completed, s.Status
		if s.Status == "error" {
			f.How, f.Failure = agent.Failed, failure(s.Error.Message)
		}
	}
	return []agent.Fact{f}, nil
}
