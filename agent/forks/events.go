package forks

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"berth/agent"
)

// ErrEvent is the error for bytes that aren't an agent's hook event.
var ErrEvent = errors.New("not a hook event")

// Event has the fields of a hook's payload that several agents share, by the names that they have from Claude Code.
type Event struct {
	Session      string          `json:"session_id"`
	Camel        string          `json:"sessionId"` // Copilot's Notification has the session here
	Name         string          `json:"hook_event_name"`
	Transcript   string          `json:"transcript_path"`
	Time         json.RawMessage `json:"timestamp"`
	Prompt       string          `json:"prompt"`
	Source       string          `json:"source"`
	Reason       string          `json:"reason"`
	Trigger      string          `json:"trigger"`
	Tool         string          `json:"tool_name"`
	Input        json.RawMessage `json:"tool_input"`
	Notification string          `json:"notification_type"`
	Message      string          `json:"message"`
	AgentType    string          `json:"agent_type"`
}

// ReadEvent reads a payload into an agent's event, and its Event within that. The fact has what most events report;
// what it doesn't know is Noted. So is an event that isn't among the agent's own, because agents share this table and
// not their events' names.
func ReadEvent(payload []byte, event any, e *Event, own []string) (f agent.Fact, err error) {
	if err := json.Unmarshal(payload, event); err != nil {
		return f, fmt.Errorf("read a hook event: %w: %w", ErrEvent, err)
	}
	e.Session = cmp.Or(e.Session, e.Camel)
	if e.Name == "" || e.Session == "" {
		return f, fmt.Errorf("read a hook event: %w: no name or no session", ErrEvent)
	}
	f = agent.Fact{
		Kind: agent.Noted, Source: agent.SourceHook, Cause: "hook:" + e.Name, At: e.at(), Conversation: e.Session, Tool: e.Tool, Input: e.Input,
		Evidence: e.Tool,
	}
	if !slices.Contains(own, e.Name) {
		return f, nil
	}
	switch e.Name {
	case "SessionStart":
		f.Kind, f.Text, f.Evidence = agent.ConversationStarted, e.Source, e.Source
	case "SessionEnd":
		f.Kind, f.Text, f.Evidence = agent.ConversationEnded, e.Reason, e.Reason
	case "UserPromptSubmit", "BeforeAgent":
		f.Kind, f.Text, f.Evidence = agent.TurnStarted, e.Prompt, agent.FirstLine(e.Prompt)
	case "Stop", "AfterAgent":
		f.Kind, f.How, f.Evidence = agent.TurnEnded, agent.Completed, agent.FirstLine(e.Prompt)
	case "PreToolUse", "BeforeTool":
		f.Kind = agent.ToolStarted
	case "PostToolUse", "PostToolUseFailure", "PermissionDenied", "AfterTool":
		f.Kind = agent.ToolEnded
	case "PostToolBatch":
		f.Kind = agent.StepEnded
	case "SubagentStart":
		f.Kind, f.Evidence = agent.SubagentStarted, e.AgentType
	case "SubagentStop":
		f.Kind, f.Evidence = agent.SubagentEnded, e.AgentType
	case "PreCompact":
		f.Kind, f.Activity, f.Evidence = agent.Acting, &agent.Activity{Kind: agent.Compacting}, e.Trigger
	case "PostCompact":
		f.Kind, f.Activity, f.Evidence = agent.Acting, &agent.Activity{Kind: agent.Thinking}, e.Trigger
	case "Notification":
		f.Evidence = e.Notification + ": " + agent.FirstLine(e.Message)
	}
	return f, nil
}

// Log is the session's log, or empty if its path isn't one that the agent chooses: a forged hook could name any file.
func (e *Event) Log(chosen bool) string {
	if !chosen || !filepath.IsAbs(e.Transcript) {
		return ""
	}
	return filepath.Clean(e.Transcript)
}

// at is the time of the event; zero if it isn't written as a date, such as in a Notification of Copilot's.
func (e *Event) at() (t time.Time) {
	_ = json.Unmarshal(e.Time, &t)
	return t
}
