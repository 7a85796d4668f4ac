package track

import (
	"berth/api"
)

// Said is the last message of an agent's turn.
type Said struct {
	Text string   `json:"text"`
	Time api.Time `json:"time"`
	Turn string   `json:"turn,omitempty"` // the agent's id of it

	Conversation string `json:"conversation,omitempty"` // the agent's id of the one it was said in

	Usage *Usage `json:"usage,omitempty"` // of its turn, as far as known
}

// lastSaid is the last message with what its turn took, as far as known now. One
// of a conversation that the agent has left, by a clear or a start without taking
// it up, is not its last any more.
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
