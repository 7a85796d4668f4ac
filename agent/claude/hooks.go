package claude

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"berth/agent"
)

// ErrEvent is the error for bytes that aren't a hook event of Claude.
var ErrEvent = errors.New("not a hook event")

// event has the fields that all payloads share, and those of single events that detection reads.
type event struct {
	Session        string          `json:"session_id"`
	Name           string          `json:"hook_event_name"`
	Turn           string          `json:"prompt_id"`
	Agent          string          `json:"agent_id"`
	AgentType      string          `json:"agent_type"`
	Tool           string          `json:"tool_name"`
	Input          json.RawMessage `json:"tool_input"`
	Call           string          `json:"tool_use_id"`
	Prompt         string          `json:"prompt"`
	Source         string          `json:"source"`
	Reason         string          `json:"reason"`
	Trigger        string          `json:"trigger"`
	Error          string          `json:"error"`
	ErrorDetails   string          `json:"error_details"`
	LastMessage    string          `json:"last_assistant_message"`
	Notification   string          `json:"notification_type"`
	Message        string          `json:"message"`
	Server         string          `json:"mcp_server_name"`
	Schema         json.RawMessage `json:"requested_schema"`
	URL            string          `json:"url"`
	Action         string          `json:"action"`
	Delta          string          `json:"delta"`
	Background     []task          `json:"background_tasks"`
	StopHookActive bool            `json:"stop_hook_active"`
	Transcript     string          `json:"transcript_path"`
	Dir            string          `json:"cwd"`
	Mode           string          `json:"permission_mode"`
}

type task struct {
	ID     string `json:"id"`
	Type   string `json:"type"`
	Status string `json:"status"`
}

// Hook reads one event. Every event gives a fact, at least as evidence, even an unknown one.
func (d Driver) Hook(payload []byte) ([]agent.Fact, error) {
	var e event
	if err := json.Unmarshal(payload, &e); err != nil {
		return nil, fmt.Errorf("read a hook event: %w: %w", ErrEvent, err)
	}
	if e.Name == "" || e.Session == "" {
		return nil, fmt.Errorf("read a hook event: %w: no name or no session", ErrEvent)
	}
	f := agent.Fact{
		Kind: agent.Noted, Source: agent.SourceHook, Cause: "hook:" + e.Name,
		Conversation: e.Session, Turn: e.Turn, Agent: e.Agent, AgentType: e.AgentType,
		Tool: e.Tool, Call: e.Call, Input: e.Input, Log: e.log(), Mode: e.Mode,
	}
	e.fill(&f)
	return []agent.Fact{f}, nil
}

// log is the path of the conversation's session log. The file's name must be the conversation's id,
// because a forged hook could name any file.
func (e *event) log() string {
	if !filepath.IsAbs(e.Transcript) || filepath.Base(e.Transcript) != e.Session+".jsonl" {
		return ""
	}
	return filepath.Clean(e.Transcript)
}

// fill completes the fact with what the event reports.
func (e *event) fill(f *agent.Fact) {
	switch e.Name {
	case "SessionStart":
		f.Kind, f.Text, f.Evidence = agent.ConversationStarted, e.Source, e.Source
	case "SessionEnd":
		f.Kind, f.Text, f.Evidence = agent.ConversationEnded, e.Reason, e.Reason
	case "UserPromptSubmit":
		f.Kind, f.Text, f.Evidence = agent.TurnStarted, e.Prompt, agent.FirstLine(e.Prompt)
	case "PreToolUse":
		f.Kind, f.Evidence, f.Folder = agent.ToolStarted, e.Tool, folderOf(e.Tool, e.Dir)
	case "PostToolUse", "PostToolUseFailure", "PermissionDenied":
		f.Kind, f.Evidence = agent.ToolEnded, e.Tool
	case "PostToolBatch":
		f.Kind = agent.StepEnded
	case "PermissionRequest":
		f.Kind, f.Request, f.Evidence = agent.Asked, request(e.Tool, e.Input, e.AgentType), e.Tool
		f.Folder = folderOf(e.Tool, e.Dir)
	case "Elicitation":
		f.Kind, f.Request, f.Evidence = agent.Asked, form(e.Server, e.Message, e.URL, e.Schema), e.Message
	case "ElicitationResult":
		f.Kind, f.Request, f.Evidence = agent.Answered, &agent.Request{Type: agent.PromptForm}, e.Action
	case "Stop":
		f.Kind, f.How, f.Text, f.Evidence = agent.TurnEnded, agent.Completed, e.LastMessage, agent.FirstLine(e.LastMessage)
		f.Background = subagents(e.Background)
	case "StopFailure":
		f.Kind, f.How, f.Text = agent.TurnEnded, agent.Failed, e.LastMessage
		f.Failure = failure(e.Error, e.LastMessage+" "+e.ErrorDetails, e.LastMessage)
		f.Evidence = e.Error + ": " + agent.FirstLine(e.LastMessage)
	case "SubagentStart":
		f.Kind, f.Evidence = agent.SubagentStarted, e.AgentType
	case "SubagentStop":
		f.Kind, f.Evidence = agent.SubagentEnded, e.AgentType
	case "PreCompact":
		e.compacts(f)
	case "PostCompact":
		f.Kind, f.Activity = agent.Acting, &agent.Activity{Kind: agent.Thinking}
		if e.Trigger == "manual" {
			f.Kind, f.How = agent.TurnEnded, agent.Completed
		}
		f.Evidence = e.Trigger
	case "MessageDisplay":
		f.Kind, f.Activity, f.Evidence = agent.Acting, &agent.Activity{Kind: agent.Responding}, agent.FirstLine(e.Delta)
	case "Notification":
		f.Evidence = e.Notification + ": " + agent.FirstLine(e.Message)
		if e.Notification == "elicitation_response" { // a form that its server withdraws has no ElicitationResult
			f.Kind, f.Request = agent.Answered, &agent.Request{Type: agent.PromptForm}
		}
	}
}

// compacts handles a compaction. If a person asked for it, it is a turn of its own, without the
// event that starts other turns; otherwise it is a part of a turn.
func (e *event) compacts(f *agent.Fact) {
	f.Activity, f.Evidence = &agent.Activity{Kind: agent.Compacting}, e.Trigger
	f.Kind = agent.Acting
	if e.Trigger == "manual" {
		f.Kind, f.Text = agent.TurnStarted, "/compact"
	}
}

// subagents are the background tasks that keep the agent busy after a turn. A background shell
// doesn't.
func subagents(tasks []task) []string {
	var ids []string
	for _, t := range tasks {
		switch {
		case t.Status != "running":
		case t.Type == "subagent":
			ids = append(ids, t.ID)
		case t.Type == "workflow": // its subagents have ids of their own
			ids = append(ids, agent.AnySubagent)
		}
	}
	return ids
}
