package copilot

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"berth/agent"
	"berth/agent/hooks"
)

// ErrEvent is the error for bytes that aren't a hook event of Copilot.
var ErrEvent = errors.New("not a hook event")

// event has the fields that all payloads share, and those of single events that detection reads.
// Only an event that is configured in Pascal case has its own name in its payload.
type event struct {
	Name    string          `json:"hook_event_name"`
	Session string          `json:"session_id"`
	Camel   string          `json:"sessionId"` // Notification has this in any form
	Time    json.RawMessage `json:"timestamp"`
	Source  string          `json:"source"`
	Reason  string          `json:"reason"`
	Prompt  string          `json:"prompt"`
	Log     string          `json:"transcript_path"`
	Trigger string          `json:"trigger"`
	Message string          `json:"message"`
	Kind    string          `json:"notification_type"`
	Error   struct {
		Message string `json:"message"`
	} `json:"error"`
	Recoverable bool `json:"recoverable"`
}

// at is the time of the event, which only the measured form has; zero for any other.
func (e *event) at() (t time.Time) {
	_ = json.Unmarshal(e.Time, &t) // Notification has a number
	return t
}

// Hook reads one event. Every event gives a fact, at least as evidence, even an unknown one.
func (Driver) Hook(payload []byte) ([]agent.Fact, error) {
	var e event
	if err := json.Unmarshal(payload, &e); err != nil {
		return nil, fmt.Errorf("read a hook event: %w: %w", ErrEvent, err)
	}
	if e.Session == "" {
		e.Session = e.Camel
	}
	if e.Name == "" || e.Session == "" {
		return nil, fmt.Errorf("read a hook event: %w: no name or no session", ErrEvent)
	}
	f := agent.Fact{
		Kind: agent.Noted, Source: agent.SourceHook, Cause: "hook:" + e.Name, At: e.at(), Conversation: e.Session,
	}
	// A forged hook could name any file: the log must be in the folder of its conversation.
	if dir, name := filepath.Split(e.Log); filepath.IsAbs(dir) && name == "events.jsonl" && filepath.Base(dir) == e.Session &&
		filepath.Base(filepath.Dir(filepath.Clean(dir))) == "session-state" {
		f.Log = filepath.Clean(e.Log)
	}
	e.fill(&f)
	return []agent.Fact{f}, nil
}

// fill completes the fact with what the event reports.
func (e *event) fill(f *agent.Fact) {
	switch e.Name {
	case "SessionStart": // with the first message
		f.Kind, f.Text, f.Evidence = agent.ConversationStarted, e.Source, e.Source
	case "SessionEnd":
		f.Kind, f.Text, f.Evidence = agent.ConversationEnded, e.Reason, e.Reason
	case "UserPromptSubmit":
		f.Kind, f.Text, f.Evidence = agent.TurnStarted, e.Prompt, agent.FirstLine(e.Prompt)
	case "Stop":
		f.Kind, f.How = agent.TurnEnded, agent.Completed
	case "ErrorOccurred": // Copilot tries again, or the session log has the error that ends the turn
		f.Evidence = agent.FirstLine(e.Error.Message)
		if e.Recoverable {
			f.Kind, f.Activity = agent.Acting, &agent.Activity{Kind: agent.Retrying}
		}
	case "PreCompact":
		f.Kind, f.Activity, f.Evidence = agent.Acting, &agent.Activity{Kind: agent.Compacting}, e.Trigger
	case "Notification":
		f.Evidence = e.Kind + ": " + agent.FirstLine(e.Message)
	}
}

// GoOn blocks the Stop hook: the model gets the text as a message, and the turn continues. Copilot
// itself ends a turn after eight blocks in a row.
func (Driver) GoOn(text string) ([]byte, error) { return hooks.GoOn(text) }

// Context adds the text to the model's context at a SessionStart, which comes with the first
// message.
func (Driver) Context(text string) ([]byte, error) {
	return hooks.Encode(map[string]string{"additionalContext": text})
}
