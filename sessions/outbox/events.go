package outbox

import (
	"berth/api"
	"berth/sessions/loop"
)

// Types of events.
const (
	eventNudge   = "nudge"
	eventMessage = "message"
	eventDraft   = "draft_stashed"
)

// What the events carry beside their head.
type (
	nudgeEvent struct {
		By       loop.By `json:"by"`
		Nudge    string  `json:"nudge"`
		Queue    string  `json:"queue_id,omitempty"` // of one that was queued
		Bytes    int     `json:"bytes"`              // as typed; never the text
		Verdict  string  `json:"verdict"`
		Code     string  `json:"code,omitempty"` // of one that is not confirmed
		Evidence string  `json:"evidence"`
		Aside    bool    `json:"draft_aside,omitempty"` // a person's draft is put aside still
		Arrived  string  `json:"arrived_as,omitempty"`  // message, changed or pasted: see arrivedAs
	}
	messageEvent struct {
		By      loop.By   `json:"by"`
		Queue   string    `json:"queue_id"`
		What    string    `json:"what"`  // queued, removed, expired, denied; a delivery is a nudge
		Bytes   int       `json:"bytes"` // never the text
		Expires *api.Time `json:"expires"`
		Why     string    `json:"why,omitempty"`
		Limit   uint64    `json:"limit,omitempty"` // of the message after a limit: number of the state's event
	}
	draftEvent struct {
		By    loop.By `json:"by"`
		Nudge string  `json:"nudge"` // for whose sake
		Draft string  `json:"draft"` // stashed, restored
	}
)

// Events are the fields of each type of event of this package, beside those of the head.
var Events = map[string]any{eventNudge: nudgeEvent{}, eventMessage: messageEvent{}, eventDraft: draftEvent{}}
