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
)

// What the events carry beside their head.
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
		Sources  []SourceWord    `json:"sources,omitempty"` // what each had said by then
		At       *place          `json:"at,omitempty"`
	}
	activityEvent struct {
		Activity agent.Activity `json:"activity"` // of an agent that goes on working
	}
	// HookEvent is the data of an event hook.
	HookEvent struct {
		Event     string          `json:"event"`
		Foreign   bool            `json:"foreign"` // of another conversation: it moves nothing
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
		By     *loop.By         `json:"by"` // who answered by respond; null: somebody at the terminal, or nobody
		At     *place           `json:"at,omitempty"`
	}
	// mismatchEvent is the begin of a mismatch, or its end.
	mismatchEvent struct {
		DriverMismatch
		Over bool `json:"over"` // the source is believed at once again
	}
)

// DriverMismatch is a source of an agent's state that another one has
// contradicted. Until the others have confirmed it again, what it says is
// believed by the slow rule: 2 s later, and only when all sources agree.
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
