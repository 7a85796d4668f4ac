package track

import (
	"berth/api"
)

// Said is the last message of an agent's turn.
type Said struct {
	Text string   `json:"text"`
	Time api.Time `json:"time"`
	Turn string   `json:"turn,omitempty"` // the agent's id of the turn

	Conversation string `json:"conversation,omitempty"` // the agent's id of the conversation

	Usage *Usage `json:"usage,omitempty"` // the turn's usage, as far as known
}

// lastSaid is the last message with its turn's usage, as far as known now. A message of a conversation that
// the agent has left, by a clear or a new start, doesn't count any more.
func (t *Track) lastSaid() *Said {
	d := t.d
	if d == nil {
		return t.said
	}
	here := func(said *Said) bool {
		now := d.fold.Status().Conversation
		return said != nil && (said.Conversation == "" || now == "" || said.Conversation == now)
	}
	switch {
	case d.said == nil && here(t.said):
		return t.said
	case !here(d.said):
		return nil
	}
	said := *d.said
	if u := d.meter.Usage(said.Turn); u != nil {
		said.Usage = u
	}
	return &said
}
