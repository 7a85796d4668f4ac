package generic

import (
	"encoding/json"
	"fmt"
	"slices"

	"berth/agent"
)

// word is the payload of berth hook state.
type word struct {
	Berth   string `json:"berth"` // "state"
	State   string `json:"state"`
	Message string `json:"message"`
}

// Hook reads the reports of berth hook state. Any other hook is evidence only, because the driver
// doesn't know its program.
func (Driver) Hook(payload []byte) ([]agent.Fact, error) {
	var w word
	if err := json.Unmarshal(payload, &w); err != nil {
		return nil, fmt.Errorf("read a hook's event: %w", err)
	}
	f := agent.Fact{Kind: agent.Noted, Source: agent.SourceHook, Cause: "hook", Evidence: firstLine(w.Message)}
	w.Message = shown(w.Message)
	if w.Berth != "state" {
		return []agent.Fact{f}, nil
	}
	f.Cause = "hook:state:" + firstLine(w.State)
	return reports(f, w), nil
}

// reports returns the facts of a report. A program that reports a state no longer asks what it asked
// before, even if the new report is another question.
func reports(f agent.Fact, w word) []agent.Fact {
	over := f
	over.Kind, over.Request = agent.Answered, asks("")
	switch w.State {
	case "working":
		f.Text = w.Message
		return slices.Concat([]agent.Fact{over}, works(f))
	case "idle":
		f.Kind, f.Level = agent.LevelIs, agent.LevelIdle
	case "done":
		f.Text = w.Message
		return slices.Concat([]agent.Fact{over}, ends(f, agent.Completed, ""))
	case "error":
		return slices.Concat([]agent.Fact{over}, ends(f, agent.Failed, w.Message))
	case "prompt":
		asked := f
		asked.Kind, asked.Request = agent.Asked, asks(w.Message)
		asked.Request.Type = agent.PromptQuestion // also when the message is the word "permission"
		asked.Request.Text = agent.Pointer(w.Message)
		asked.Request.Ready = true
		f.Kind, f.Level = agent.LevelIs, agent.LevelWaiting
		return []agent.Fact{over, asked, f}
	case "unknown":
		f.Kind, f.Level = agent.LevelIs, agent.LevelUnknown
	}
	return []agent.Fact{over, f}
}
