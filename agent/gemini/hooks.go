package gemini

import (
	"berth/agent"
	"berth/agent/forks"
	"berth/agent/pattern"
)

// ErrEvent is the error for bytes that aren't a hook event of Gemini.
var ErrEvent = forks.ErrEvent

// event is an event with what only Gemini reports. It leaves out the reply, because Gemini repeats parts of it.
type event struct {
	forks.Event
	Details details `json:"details"`
}

// Hook reads one event. Every event gives a fact, at least as evidence, even an unknown one. Gemini's events have no
// ids of turns or calls. SessionEnd comes twice when the program ends.
func (Driver) Hook(payload []byte) ([]agent.Fact, error) {
	var e event
	f, err := forks.ReadEvent(payload, &e, &e.Event, events)
	if err != nil {
		return nil, err
	}
	f.Log = e.Transcript
	switch {
	case e.Name == "PreCompress":
		e.compresses(&f)
	case e.Name == "Notification" && e.Notification == "ToolPermission":
		f.Kind, f.Request = agent.Asked, asked(&e.Details)
	}
	return []agent.Fact{f}, nil
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

// named finds the name of an event. Nothing before it can have these characters: Gemini's JSON escapes quotes.
var named = pattern.New(`"hook_event_name": *"(\w+)"`)

// CutsCall: Gemini writes the event's name before what can be long.
func (Driver) CutsCall(head string) bool {
	found := named.FindStringSubmatch(head)
	return found == nil || found[1] == "BeforeTool"
}

// ReportsDialog: the notification ToolPermission reports each dialog of a tool.
func (Driver) ReportsDialog(d *agent.Dialog) bool { return d.Subtype == "" }
