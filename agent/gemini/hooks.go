package gemini

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"berth/agent"
)

// ErrEvent is the error for bytes that aren't a hook event of Gemini.
var ErrEvent = errors.New("not a hook event")

// event has the fields that all payloads share, and those of single events that detection reads. It
// leaves out the reply, because Gemini repeats parts of it.
type event struct {
	Session      string          `json:"session_id"`
	Log          string          `json:"transcript_path"`
	Name         string          `json:"hook_event_name"`
	Time         time.Time       `json:"timestamp"`
	Prompt       string          `json:"prompt"`
	Source       string          `json:"source"`
	Reason       string          `json:"reason"`
	Trigger      string          `json:"trigger"`
	Tool         string          `json:"tool_name"`
	Input        json.RawMessage `json:"tool_input"`
	Notification string          `json:"notification_type"`
	Message      string          `json:"message"`
	Details      details         `json:"details"`
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
		Kind: agent.Noted, Source: agent.SourceHook, Cause: "hook:" + e.Name, At: e.Time,
		Conversation: e.Session, Log: e.Log, Tool: e.Tool, Input: e.Input,
	}
	e.fill(&f)
	return []agent.Fact{f}, nil
}

// fill completes the fact with what the event reports. Gemini's events have no ids of turns or
// calls.
func (e *event) fill(f *agent.Fact) {
	switch e.Name {
	case "SessionStart":
		f.Kind, f.Text, f.Evidence = agent.ConversationStarted, e.Source, e.Source
	case "SessionEnd": // it comes twice when the program ends
		f.Kind, f.Text, f.Evidence = agent.ConversationEnded, e.Reason, e.Reason
	case "BeforeAgent":
		f.Kind, f.Text, f.Evidence = agent.TurnStarted, e.Prompt, agent.FirstLine(e.Prompt)
	case "AfterAgent":
		f.Kind, f.How, f.Evidence = agent.TurnEnded, agent.Completed, agent.FirstLine(e.Prompt)
	case "BeforeTool":
		f.Kind, f.Evidence = agent.ToolStarted, e.Tool
	case "AfterTool":
		f.Kind, f.Evidence = agent.ToolEnded, e.Tool
	case "PreCompress":
		e.compresses(f)
	case "Notification":
		f.Evidence = e.Notification + ": " + agent.FirstLine(e.Message)
		if e.Notification == "ToolPermission" {
			f.Kind, f.Request = agent.Asked, asked(&e.Details)
		}
	}
}

// compresses handles PreCompress. "auto" comes before every step of the model, even if nothing is
// compressed: all that the step before asked is over.
func (e *event) compresses(f *agent.Fact) {
	f.Evidence = e.Trigger
	switch e.Trigger {
	case "auto":
		f.Kind = agent.StepEnded
	case "manual":
		f.Kind, f.Activity = agent.Acting, &agent.Activity{Kind: agent.Compacting}
	}
}
