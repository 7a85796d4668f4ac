package sessions

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
func (c *core) lastSaid() *Said {
	d := c.detection
	if d == nil {
		return c.said
	}
	here := func(said *Said) bool {
		now := d.fold.Status().Conversation
		return said != nil && (said.Conversation == "" || now == "" || said.Conversation == now)
	}
	switch {
	case d.said == nil && here(c.said):
		return c.said
	case !here(d.said):
		return nil
	}
	said := *d.said
	if u := d.meter.Usage(said.Turn); u != nil {
		said.Usage = u
	}
	return &said
}
