package qwen

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"berth/agent"
)

// ErrEvent is the error for bytes that aren't a hook event of Qwen Code.
var ErrEvent = errors.New("not a hook event")

// event has the fields that all payloads share, and those of single events that detection reads.
type event struct {
	Session      string          `json:"session_id"`
	Name         string          `json:"hook_event_name"`
	Transcript   string          `json:"transcript_path"`
	Time         time.Time       `json:"timestamp"`
	Turn         string          `json:"prompt_id"`
	Mode         string          `json:"permission_mode"`
	Prompt       string          `json:"prompt"`
	Source       string          `json:"source"`
	Reason       string          `json:"reason"`
	Trigger      string          `json:"trigger"`
	Tool         string          `json:"tool_name"`
	Input        json.RawMessage `json:"tool_input"`
	Call         string          `json:"tool_call_id"`
	Agent        string          `json:"agent_id"`
	AgentType    string          `json:"agent_type"`
	LastMessage  string          `json:"last_assistant_message"`
	Error        string          `json:"error"`
	Details      string          `json:"error_details"`
	Notification string          `json:"notification_type"`
	Message      string          `json:"message"`
}

// Hook reads one event. Every event gives a fact, at least as evidence, even an unknown one.
func (Driver) Hook(payload []byte) ([]agent.Fact, error) {
	var e event
	if err := json.Unmarshal(payload, &e); err != nil {
		return nil, fmt.Errorf("read a hook event: %w: %w", ErrEvent, err)
	}
	if e.Name == "" || e.Session == "" {
		return nil, fmt.Errorf("read a hook event: %w: no name or no session", ErrEvent)
	}
	f := agent.Fact{
		Kind: agent.Noted, Source: agent.SourceHook, Cause: "hook:" + e.Name, At: e.Time, Conversation: e.Session, Turn: e.Turn,
		Agent: e.Agent, AgentType: e.AgentType, Tool: e.Tool, Call: e.Call, Input: e.Input, Mode: e.Mode,
	}
	// A forged hook could name any file: the log's name must be the conversation's id.
	if filepath.IsAbs(e.Transcript) && filepath.Base(e.Transcript) == e.Session+".jsonl" {
		f.Log = filepath.Clean(e.Transcript)
	}
	e.fill(&f)
	return []agent.Fact{f}, nil
}

// fill completes the fact with what the event reports.
func (e *event) fill(f *agent.Fact) {
	switch f.Evidence = e.Tool; e.Name {
	case "SessionStart":
		f.Kind, f.Text, f.Evidence = agent.ConversationStarted, e.Source, e.Source
	case "SessionEnd":
		f.Kind, f.Text, f.Evidence = agent.ConversationEnded, e.Reason, e.Reason
	case "UserPromptSubmit":
		f.Kind, f.Text, f.Evidence = agent.TurnStarted, e.Prompt, agent.FirstLine(e.Prompt)
		if e.Prompt == "" { // it comes without a message too, when all tools of a step have ended
			f.Kind = agent.StepEnded
		}
	case "PreToolUse": // after the approval
		f.Kind = agent.ToolStarted
	case "PostToolUse", "PostToolUseFailure", "PermissionDenied":
		f.Kind = agent.ToolEnded
	case "PostToolBatch":
		f.Kind = agent.StepEnded
	case "PermissionRequest":
		f.Kind, f.Request = agent.Asked, request(e.Tool, e.Input, e.AgentType)
	case "Stop":
		f.Kind, f.How, f.Text, f.Evidence = agent.TurnEnded, agent.Completed, e.LastMessage, agent.FirstLine(e.LastMessage)
	case "StopFailure":
		f.Kind, f.How, f.Evidence = agent.TurnEnded, agent.Failed, e.Error+": "+agent.FirstLine(e.Details)
		f.Failure = failure(e.Error, e.Details)
	case "SubagentStart":
		f.Kind, f.Evidence = agent.SubagentStarted, e.AgentType
	case "SubagentStop":
		f.Kind, f.Evidence = agent.SubagentEnded, e.AgentType
	case "PreCompact":
		f.Kind, f.Activity, f.Evidence = agent.Acting, &agent.Activity{Kind: agent.Compacting}, e.Trigger
	case "PostCompact":
		f.Kind, f.Activity, f.Evidence = agent.Acting, &agent.Activity{Kind: agent.Thinking}, e.Trigger
	case "Notification": // "idle_prompt" comes at every rest, also before StopFailure: the title is as quick
		f.Evidence = e.Notification + ": " + agent.FirstLine(e.Message)
	}
}
