package sessions

import (
	"berth/agent"
	"berth/api"
	"berth/detect"
	"berth/sessions/deliver"
	"berth/sessions/process"
)

// freshest bounds how much output is read before a look at the screen: an agent
// that prints more than that is not at rest.
const freshest = 16

// freshen takes in all that the agent's sources say now.
func (c *core) freshen() {
	c.unread = c.link != nil
	for range freshest {
		if !c.catchUp() {
			break
		}
	}
	c.detect(c.now())
	d := c.detection
	if d == nil || c.link == nil || c.exit != nil {
		return
	}
	c.readFiles()
	if d.awake && !d.screenAt.IsZero() && !c.term.InSync() {
		c.readScreen()
	}
}

// seen is what a delivery goes by.
func (c *core) seen() deliver.Seen {
	d := c.detection
	seen := deliver.Seen{
		State: c.state, Asks: len(d.fold.Status().Requests) > 0, Paste: c.term.Modes().BracketedPaste, Typed: c.clients.PersonAt(), Printed: c.lastOut, Composed: d.drawing.composed, Drew: d.drawing.took,
		Unread: process.Unread(c.child.pid), Computes: process.Computing(c.child.pid),
	}
	written, _ := c.link.Written()
	if d.awake && d.screenAt.IsZero() && !c.unsettled() && c.term.Offset() >= written && !d.fold.Stirs() {
		seen.Reading = d.reading
	}
	return seen
}

// listen passes a fact of the conversation on to those who wait for one.
func (c *core) listen(f agent.Fact, r detect.Result) {
	if r.Foreign {
		return
	}
	d := c.detection
	c.outbox.Fact(f)
	if f.Kind == agent.TurnEnded && f.Agent == "" && f.How == agent.Completed && f.Text != "" {
		if d.said == nil || f.Turn == "" || d.said.Turn != f.Turn {
			d.said = &Said{Text: f.Text, Time: api.At(f.Time), Turn: f.Turn, Conversation: d.fold.Status().Conversation}
		}
	}
}

// keeps says that the screen shows messages that the agent keeps for later. The
// detection may be nil.
func (d *detection) keeps() bool { return d != nil && d.reading != nil && len(d.reading.Queued) > 0 }
