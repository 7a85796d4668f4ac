package codex

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"berth/agent"
)

// ErrEvent is the error for bytes that aren't a hook event of Codex.
var ErrEvent = errors.New("not a hook event")

// event has the fields that all payloads share, and those of single events that detection reads.
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
	Dir         string          `json:"cwd"` // of a tool: the folder that it runs in

	// These are for the program in the setting notify.
	Type         string `json:"type"`
	NotifyTurn   string `json:"turn-id"`
	NotifyThread string `json:"thread-id"`
}

// turnComplete is the only type of notification.
const turnComplete = "agent-turn-complete"

// Hook reads one event. Every event gives a fact, at least as evidence, even an unknown one.
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
	if e.Agent == "" { // a subagent has a log of its own
		f.Log = e.Transcript
	}
	return e.facts(f), nil
}

// notified is evidence only. Codex also notifies about turns of its own side threads, and doesn't
// say which are.
func (e *event) notified() agent.Fact {
	return agent.Fact{
		Kind: agent.Noted, Source: agent.SourceHook, Cause: "notify:" + e.Type, Turn: e.NotifyTurn, How: agent.Completed,
		Evidence: "thread " + e.NotifyThread,
	}
}

// facts completes the fact with what the event reports.
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
		if holdsPatch(e.Input) || e.Agent != "" && commandAlone(e.Tool, e.Input) { // nothing else may report its folder: the log has no subagent's calls
			f.Request = permission(e.Tool, e.Input, e.AgentType)
			f.Request.Raw = inFolder(e.Input, e.Dir)
		}
	case "PostToolUse":
		f.Kind, f.Evidence = agent.ToolEnded, e.Tool
	case "PermissionRequest":
		f.Kind, f.Evidence = agent.Asked, e.Tool
		f.Request = permission(e.Tool, e.Input, e.AgentType)
		if e.Tool != toolPatch { // its names may be relative to another folder than this hook's: see Explain
			f.Request.Raw = inFolder(e.Input, e.Dir)
		}
		if commandAlone(e.Tool, e.Input) {
			f.Input = withoutReason(e.Input)
		}
		if e.Agent != "" && e.Tool == toolCommand {
			f.Request.Text = agent.Pointer(strings.TrimPrefix(agent.Value(f.Request.Text)+"\n"+anyShell+"\n"+hookFolder, "\n"))
		}
	case "PreModelRequest":
		// Codex calls the model again: all its tool calls have ended, and so has a failed attempt.
		f.Kind = agent.StepEnded
		return []agent.Fact{f, fine(f)}
	case "PostModelRequest":
		return []agent.Fact{e.answered(f)}
	case "Stop":
		f.Kind, f.How, f.Text, f.Evidence = agent.TurnEnded, agent.Completed, e.LastMessage, agent.FirstLine(e.LastMessage)
		return []agent.Fact{fine(f), f}
	case "Interrupt": // by a key, or because a person denied a dialog
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

// fine returns a fact that clears an earlier failure: it isn't the reason for the turn's end.
func fine(f agent.Fact) agent.Fact {
	return agent.Fact{
		Kind: agent.FailureSeen, Source: f.Source, Cause: f.Cause, Conversation: f.Conversation, Turn: f.Turn, Agent: f.Agent,
	}
}

// answered handles the end of a request to the model. A failed one may be retried; if the turn ends
// in an error, this is the error.
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

// withoutReason is a tool's input without the model's reason, which only PermissionRequest adds. It
// then equals the call's input.
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
