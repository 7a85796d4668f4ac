package copilot

import (
	"path/filepath"

	"berth/agent"
	"berth/agent/forks"
	"berth/agent/hooks"
)

// ErrEvent is the error for bytes that aren't a hook event of Copilot.
var ErrEvent = forks.ErrEvent

// event is an event with what only Copilot reports. Only one that is configured in Pascal case has its own name in
// its payload.
type event struct {
	forks.Event
	Error struct {
		Message string `json:"message"`
	} `json:"error"`
	Recoverable bool `json:"recoverable"`
}

// Hook reads one event. Every event gives a fact, at least as evidence, even an unknown one. SessionStart comes with
// the first message.
func (Driver) Hook(payload []byte) ([]agent.Fact, error) {
	var e event
	f, err := forks.ReadEvent(payload, &e, &e.Event, events)
	if err != nil {
		return nil, err
	}
	folder, name := filepath.Split(filepath.Clean(e.Transcript))
	f.Log = e.Log(name == "events.jsonl" && filepath.Base(folder) == e.Session && filepath.Base(filepath.Dir(filepath.Clean(folder))) == "session-state")
	if e.Name == "ErrorOccurred" { // Copilot tries again, or the session log has the error that ends the turn
		if f.Evidence = agent.FirstLine(e.Error.Message); e.Recoverable {
			f.Kind, f.Activity = agent.Acting, &agent.Activity{Kind: agent.Retrying}
		}
	}
	return []agent.Fact{f}, nil
}

// Context adds the text to the model's context at a SessionStart, which comes with the first
// message.
func (Driver) Context(text string) ([]byte, error) {
	return hooks.Encode(map[string]string{"additionalContext": text})
}
