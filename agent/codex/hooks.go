package codex

import (
	"encoding/json"
	"errors"
	"fmt"

	"berth/agent"
)

// ErrEvent is the error for bytes that are no hook event of Codex's.
var ErrEvent = errors.New("not a hook event")

// event is what the payloads of the hooks have in common, and of each what
// detection reads.
type event struct {
	Session     string          `json:"session_id"`
	Name        string          `json:"hook_event_name"`
	Turn        string          `json:"turn_id"`
	Transcript  string          `json:"transcript_path"`
	Agent       string          `json:"agent_id"`
	AgentType   string          `json:"agent_type"`
	Tool        string          `json:"tool_name"`
	Input       json.RawMessage `json:"tool_input"`
	Call        string          `json:"tool_use_id"`
	Prompt      string          `json:"prompt"`
	Source      string          `json:"source"`
	Reason      string          `json:"reason"`
	Trigger     string          `json:"trigger"`
	Status      string          `json:"status"`
	Error       string          `json:"error"`
	LastMessage string          `json:"last_assistant_message"`

	// Of what the program named in the setting notify is told.
	Type         string `json:"type"`
	NotifyTurn   string `json:"turn-id"`
	NotifyThread string `json:"thread-id"`
}

// turnComplete is the type of the one notification there is.
const turnComplete = "agent-turn-complete"

// Hook reads one event. Every event of the measured version gives a fact, if
// only evidence; so does one that is not known.
func (Driver) Hook(payload []byte) ([]agent.Fact, error) {
	var e event
	if err := json.Unmarshal(payload, &e); err != nil {
		return nil, fmt.Errorf("read a hook event: %w: %w", ErrEvent, err)
	}
	if e.Type == turnComplete && e.Name == "" {
		return []agent.Fact{e.notified()}, nil
	}
	if e.Name == "" || e.Session == "" {
		return nil, fmt.Errorf("read a hook event: %w: no name or no session", ErrEvent)
	}
	f := agent.Fact{
		Kind: agent.Noted, Source: agent.SourceHook, Cause: "hook:" + e.Name,
		Conversation: e.Session, Turn: e.Turn, Agent: e.Agent, AgentType: e.AgentType,
		Tool: e.Tool, Call: e.Call, Input: e.Input,
	}
	if e.Agent == "" { // a subagent's has a log of its own
		f.Log = e.Transcript
	}
	return e.facts(f), nil
}

// notified: evidence only. It is told of turns of Codex's own side threads
// too, and does not say which are.
func (e *event) notified() agent.Fact {
	return agent.Fact{
		Kind: agent.Noted, Source: agent.SourceHook, Cause: "notify:" + e.Type, Turn: e.NotifyTurn, How: agent.Completed,
		Evidence: "thread " + e.NotifyThread,
	}
}

// facts makes the fact say what the event says.
func (e *event) facts(f agent.Fact) []agent.Fact {
	switch e.Name {
	case "SessionStart":
		f.Kind, f.Text, f.Evidence = agent.ConversationStarted, e.Source, e.Source
	case "SessionEnd":
		f.Kind, f.Text, f.Evidence = agent.ConversationEnded, e.Reason, e.Reason
	case "UserPromptSubmit":
		f.Kind, f.Text, f.Evidence = agent.TurnStarted, e.Prompt, agent.FirstLine(e.Prompt)
	case "PreToolUse":
		f.Kind, f.Evidence = agent.ToolStarted, e.Tool
	case "PostToolUse":
		f.Kind, f.Evidence = agent.ToolEnded, e.Tool
	case "PermissionRequest":
		f.Kind, f.Evidence = agent.Asked, e.Tool
		f.Request = permission(e.Tool, e.Input, e.AgentType)
		f.Input = withoutReason(e.Input)
	case "PreModelRequest":
		// The model is asked again: every call it made is through, and so is an
		// attempt that failed.
		f.Kind = agent.StepEnded
		return []agent.Fact{f, fine(f)}
	case "PostModelRequest":
		return []agent.Fact{e.answered(f)}
	case "Stop":
		f.Kind, f.How, f.Text, f.Evidence = agent.TurnEnded, agent.Completed, e.LastMessage, agent.FirstLine(e.LastMessage)
		return []agent.Fact{fine(f), f}
	case "Interrupt": // by a key, or by a refusal at a dialog
		f.Kind, f.How = agent.TurnEnded, agent.Interrupted
		return []agent.Fact{fine(f), f}
	case "SubagentStart":
		f.Kind, f.Evidence = agent.SubagentStarted, e.AgentType
	case "SubagentStop":
		f.Kind, f.Evidence = agent.SubagentEnded, e.AgentType
	case "PreCompact":
		f.Kind, f.Activity, f.Evidence = agent.Acting, &agent.Activity{Kind: agent.Compacting}, e.Trigger
		if e.Trigger == "manual" { // a turn of its own, without a message
			f.Kind, f.Text = agent.TurnStarted, "/compact"
		}
	case "PostCompact":
		f.Kind, f.Activity, f.Evidence = agent.Acting, &agent.Activity{Kind: agent.Thinking}, e.Trigger
		if e.Trigger == "manual" {
			f.Kind, f.How = agent.TurnEnded, agent.Completed
		}
	}
	return []agent.Fact{f}
}

// fine says that what failed before is no reason for the turn to end.
func fine(f agent.Fact) agent.Fact {
	return agent.Fact{
		Kind: agent.FailureSeen, Source: f.Source, Cause: f.Cause, Conversation: f.Conversation, Turn: f.Turn, Agent: f.Agent,
	}
}

// answered: a request to the model is through. One that failed may be tried
// again; when the turn ends in an error, this is it.
func (e *event) answered(f agent.Fact) agent.Fact {
	f.Evidence = e.Status
	switch e.Status {
	case "completed":
		return fine(f)
	case "failed":
		f.Kind, f.Failure, f.Evidence = agent.FailureSeen, failure("", e.Error), agent.FirstLine(e.Error)
	}
	return f
}

// withoutReason is a tool's input without what PermissionRequest alone adds to
// it, the model's reason, so that it is that of the call.
func withoutReason(input json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil || fields["command"] == nil || fields["description"] == nil {
		return input
	}
	delete(fields, "description")
	out, err := json.Marshal(fields)
	if err != nil {
		return input
	}
	return out
}
