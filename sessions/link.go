package sessions

import (
	"context"
	"errors"
	"time"

	"berth/agent"
	"berth/api"
	"berth/sessions/hold"
)

// hold takes on a holder's link.
func (c *core) hold(link *hold.Link) {
	c.journal.Hold(link)
	w := link.Welcome()
	c.holderPID, c.holderStart = w.HolderPID, w.HolderStart
	c.clients.SizeIs(w.Cols, w.Rows)
	c.becomes(child{pid: w.ChildPID, start: w.ChildStart})
	c.dirty = true
	c.save() // so that the next server knows the holder even if it does not answer
}

// becomes takes on the program that runs now. What is in its foreground is still to be seen.
func (c *core) becomes(program child) {
	c.child = program
	c.track.ForgetFront()
}

// connect finds the holder. Without one the journal is read to its end; if no
// exit stands there the program is lost.
func (c *core) connect(ctx context.Context) {
	link, err := hold.Dial(ctx, c.s.dir)
	switch {
	case err == nil:
		c.hold(link)
		c.replyAt = max(c.replyAt, link.Welcome().LastReply, link.Welcome().StaleOffset)
		c.track.Reached()
		c.cured("reach the holder")
	case errors.Is(err, hold.ErrGone):
		c.journal.Replay()
		switch {
		case c.exit != nil:
		case c.lost != nil:
			c.ended(c.lost, hold.Record{}, true)
		default:
			c.log.Warn("the holder is gone and left no exit", "error", err)
			c.ended(&api.Exit{Lost: true, Time: api.At(c.now())}, hold.Record{}, false)
		}
	case errors.Is(ctx.Err(), context.Canceled): // this server's start is called off
	default:
		c.trouble("reach the holder", err)
		c.track.SetState(agent.Unknown, agent.TierProcess, "process:no-answer")
	}
	c.dialed, c.dirty = c.now(), true
}

// reconnect looks after a link that ended and holders that did not answer.
func (c *core) reconnect(now time.Time) {
	if c.exit != nil || c.starting {
		return
	}
	if c.link() != nil {
		err := c.link().Err()
		if err == nil || errors.Is(err, hold.ErrEnded) {
			return
		}
		c.log.Info("the link to the holder broke", "error", err)
		c.journal.Unlink()
	} else if now.Sub(c.dialed) < dialAgain {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), dialPatience)
	defer cancel()
	c.connect(ctx)
}

// dialAgain is how often a holder that does not answer is asked again.
const dialAgain = 5 * time.Second

// dialPatience is how long the loop waits for a holder on a Unix socket, whose
// answer takes well below a millisecond.
const dialPatience = 500 * time.Millisecond
