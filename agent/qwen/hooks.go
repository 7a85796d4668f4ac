package qwen

import (
	"path/filepath"

	"berth/agent"
	"berth/agent/forks"
)

// ErrEvent is the error for bytes that aren't a hook event of Qwen Code.
var ErrEvent = forks.ErrEvent

// event is an event with what only Qwen Code reports.
type event struct {
	forks.Event
	Turn        string `json:"prompt_id"`
	Mode        string `json:"permission_mode"`
	Call        string `json:"tool_call_id"`
	Agent       string `json:"agent_id"`
	LastMessage string `json:"last_assistant_message"`
	Error       string `json:"error"`
	Details     string `json:"error_details"`
}

// Hook reads one event. Every event gives a fact, at least as evidence, even an unknown one. PreToolUse comes after
// the approval. The notification "idle_prompt" comes at every rest, also before StopFailure: the title is as quick.
func (Driver) Hook(payload []byte) ([]agent.Fact, error) {
	var e event
	f, err := forks.ReadEvent(payload, &e, &e.Event, events)
	if err != nil {
		return nil, err
	}
	f.Turn, f.Agent, f.AgentType, f.Call, f.Mode = e.Turn, e.Agent, e.AgentType, e.Call, e.Mode
	f.Log = e.Log(filepath.Base(e.Transcript) == e.Session+".jsonl")
	switch {
	case f.Kind == agent.TurnStarted && e.Prompt == "": // it comes without a message too, when all tools of a step have ended
		f.Kind = agent.StepEnded
	case e.Name == "PermissionRequest":
		f.Kind, f.Request = agent.Asked, request(e.Tool, e.Input, e.AgentType)
	case e.Name == "Stop":
		f.Text, f.Evidence = e.LastMessage, agent.FirstLine(e.LastMessage)
	case e.Name == "StopFailure":
		f.Kind, f.How, f.Evidence = agent.TurnEnded, agent.Failed, e.Error+": "+agent.FirstLine(e.Details)
		f.Failure = failure(e.Error, e.Details)
	}
	return []agent.Fact{f}, nil
}

// ReportsDialog: the hook PermissionRequest reports each dialog of a tool.
func (Driver) ReportsDialog(d *agent.Dialog) bool { return d.Subtype == "" }
