package codex

import (
	"encoding/json"
	"fmt"

	"berth/agent"
)

// streamLine is a line of exec --json.
type streamLine struct {
	Type    string `json:"type"`
	Thread  string `json:"thread_id"`
	Message string `json:"message"`
	Usage   *usage `json:"usage"`
	Error   struct {
		Message string `json:"message"`
	} `json:"error"`
	Item struct {
		ID      string `json:"id"`
		Type    string `json:"type"`
		Text    string `json:"text"`
		Command string `json:"command"`
	} `json:"item"`
}

// Stream reads one line of exec --json. It has no prompts: Codex itself denies what would need an
// answer.
func (Driver) Stream(line []byte) ([]agent.Fact, error) {
	var s streamLine
	if err := json.Unmarshal(line, &s); err != nil {
		return nil, fmt.Errorf("read a line of output: %w: %w", ErrLine, err)
	}
	f := agent.Fact{Kind: agent.Noted, Source: agent.SourceStream, Cause: "stream:" + s.Type}
	switch s.Type {
	case "thread.started":
		f.Kind, f.Conversation, f.Text = agent.ConversationStarted, s.Thread, "startup"
	case "turn.started":
		f.Kind = agent.TurnStarted
	case "turn.completed":
		f.Kind, f.How = agent.TurnEnded, agent.Completed
		if s.Usage != nil {
			f.Usage = &agent.Usage{Whole: true, Tokens: s.Usage.tokens()}
		}
	case "turn.failed":
		f.Kind, f.How, f.Failure = agent.TurnEnded, agent.Failed, failure("", s.Error.Message)
		f.Evidence = agent.FirstLine(s.Error.Message)
	case "error": // of one attempt
		f.Kind, f.Activity, f.Evidence = agent.Acting, &agent.Activity{Kind: agent.Retrying}, agent.FirstLine(s.Message)
	case "item.started", "item.completed":
		s.item(&f)
	}
	return []agent.Fact{f}, nil
}

func (s *streamLine) item(f *agent.Fact) {
	f.Cause += ":" + s.Item.Type
	f.Evidence = agent.FirstLine(s.Item.Text)
	switch s.Item.Type {
	case "agent_message":
		f.Kind, f.Activity, f.Text = agent.Acting, &agent.Activity{Kind: agent.Responding}, s.Item.Text
	case "reasoning":
		f.Kind, f.Activity = agent.Acting, &agent.Activity{Kind: agent.Thinking}
	case "command_execution", "file_change":
		f.Kind, f.Tool, f.Call = agent.ToolStarted, toolCommand, s.Item.ID
		if s.Item.Type == "file_change" {
			f.Tool = toolPatch
		} else {
			f.Input, f.Evidence = commandInput(s.Item.Command), agent.FirstLine(s.Item.Command)
		}
		if s.Type == "item.completed" {
			f.Kind = agent.ToolEnded
		}
	}
}
