package track

import (
	"encoding/json"

	"berth/agent"
	"berth/api"
	"berth/detect"
	"berth/sessions/loop"
)

// Types of events.
const (
	eventState    = "state_change"
	eventActivity = "activity"
	eventHook     = "hook"
	eventPrompt   = "prompt"
	eventResolved = "prompt_resolved"
	eventMismatch = "driver_mismatch"
	eventMode     = "mode_change"
	eventAgent    = "agent"
)

// Data of the events.
type (
	// StateEvent is the data of an event state_change.
	StateEvent struct {
		Prev     string          `json:"prev"`
		Next     string          `json:"next"`
		Tier     int             `json:"tier"`
		Cause    string          `json:"cause"`
		Evidence string          `json:"evidence,omitempty"`
		Prompt   *agent.Request  `json:"prompt,omitempty"`
		Activity *agent.Activity `json:"activity,omitempty"`
		Failure  *agent.Failure  `json:"failure,omitempty"`
		Sources  []SourceWord    `json:"sources,omitempty"` // the last report of each source at that time
		// Queue is the id of the session's first message, if it still waits while the agent is idle.
		Queue string `json:"queue_id,omitempty"`
		At    *place `json:"at,omitempty"`
	}
	activityEvent struct {
		Activity agent.Activity `json:"activity"` // what a working agent does now
	}
	// HookEvent is the data of an event hook.
	HookEvent struct {
		Event     string          `json:"event"`
		Foreign   bool            `json:"foreign"` // of another conversation, so it changes nothing
		Payload   json.RawMessage `json:"payload"` // the agent's own JSON; null when too long
		Head      string          `json:"head,omitempty"`
		Bytes     int64           `json:"bytes"`
		Truncated bool            `json:"truncated,omitempty"`
		Malformed bool            `json:"malformed,omitempty"`
		Count     int             `json:"count,omitempty"`
		Events    map[string]int  `json:"events,omitempty"`
	}
	promptEvent struct {
		Prompt *agent.Request `json:"prompt"`
		At     *place         `json:"at,omitempty"`
	}
	resolvedEvent struct {
		Prompt string           `json:"prompt"`
		Kind   agent.PromptType `json:"prompt_type"`
		How    string           `json:"how"`
		Tier   int              `json:"tier"`
		Cause  string           `json:"cause"`
		By     *loop.By         `json:"by"` // who answered by respond; null: a person at the terminal, or no one
		At     *place           `json:"at,omitempty"`
	}
	// modeEvent is a change of what the agent may do unasked. The words are the agent's.
	modeEvent struct {
		Prev  *string `json:"prev"` // null: not known before
		Mode  string  `json:"mode"`
		Tier  int     `json:"tier"`
		Cause string  `json:"cause"`
	}
	// mismatchEvent is the start of a mismatch, or its end.
	mismatchEvent struct {
		DriverMismatch
		Over bool `json:"over"` // the normal rule applies to the source again
	}
)

// DriverMismatch is a source of an agent's state that another one has contradicted. Until other sources have
// confirmed it again, the slow rule applies to it: its reports count 2 s later, and only if all sources
// agree.
type DriverMismatch struct {
	Source      string   `json:"source"`
	Said        string   `json:"said"`
	Against     string   `json:"against"` // the source that contradicted it
	AgainstSaid string   `json:"against_said"`
	Since       api.Time `json:"since"`
}

func mismatch(d detect.Doubt) DriverMismatch {
	return DriverMismatch{
		Source: string(d.Source), Said: short(d.Said), Against: string(d.Against), AgainstSaid: short(d.AgainstSaid), Since: api.At(d.Since),
	}
}

func mismatches(doubts []detect.Doubt) []DriverMismatch {
	list := []DriverMismatch{}
	for _, d := range doubts {
		list = append(list, mismatch(d))
	}
	return list
}

// Events are the fields of each type of event of this package, beside those of the head.
var Events = map[string]any{
	eventState: StateEvent{}, eventActivity: activityEvent{}, eventHook: HookEvent{}, eventPrompt: promptEvent{}, eventResolved: resolvedEvent{}, eventMismatch: mismatchEvent{}, eventMode: modeEvent{}, eventAgent: visitorEvent{},
}
