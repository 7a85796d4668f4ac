package attach

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"berth/terminal"
	"berth/terminal/paint"
)

// mark is the last line above the session's main screen at a moment: what comes
// after it later has scrolled off since.
type mark struct {
	line *terminal.Line // nil when there was none
}

// noteMain remembers how far down the session's main screen is in use, while
// that is what the client's main screen shows, and what the client's scrollback
// ends with.
func (c *client) noteMain(ctx context.Context) {
	c.mainRow, c.mark = -1, nil
	s, err := c.member.Snapshot(ctx, 1)
	if err != nil {
		return
	}
	c.mark = &mark{}
	if n := len(s.History); n > 0 {
		c.mark.line = s.History[n-1]
	}
	if s.Modes.AltScreen || s.Rows != c.rows {
		return
	}
	c.mainRow = s.Cursor.Row
	for y, l := range s.Lines {
		if y > c.mainRow && l.Text() != "" {
			c.mainRow = y
		}
	}
}

// missed is how many lines have scrolled off the session's main screen while
// the client was shown something else, at most as many as a client is given at
// first. Lines broken anew by a resize are not found again: then it is 0.
func (c *client) missed(ctx context.Context) int {
	if c.mark == nil || c.History <= 0 {
		return 0
	}
	s, err := c.member.Snapshot(ctx, c.History)
	if err != nil {
		return 0
	}
	if c.mark.line == nil {
		return len(s.History)
	}
	for n, l := range slices.Backward(s.History) {
		if l == c.mark.line {
			return len(s.History) - 1 - n
		}
	}
	return 0
}

// leave puts the client's terminal right and says how to come back.
func (c *client) leave() error {
	if c.broken {
		c.Hangup()
		c.out.close()
		return c.over
	}
	deadline, stop := c.Clock.Timer(leaveTime)
	defer stop()
	if c.drained(deadline) {
		c.out.send(c.farewell())
		c.drained(deadline)
	}
	if c.out.busy {
		c.Hangup()
	}
	c.out.close()
	return c.over
}

// Restore puts the terminal of a client right that was attached through a connection that broke.
const Restore = syncEnd + marginReset + penReset + inputReset + leaveAlternate + penReset + kittyReset + colorReset + cursorReset + titlePop + "\r\n"

// drained waits until no write is under way.
func (c *client) drained(deadline <-chan time.Time) bool {
	if !c.out.busy {
		return true
	}
	select {
	case err := <-c.out.done:
		c.out.busy = false
		c.broken = err != nil
		return err == nil
	case <-deadline:
		return false
	}
}

// farewell is the last that is written to the client.
func (c *client) farewell() []byte {
	if c.way == wayPass {
		ctx, cancel := context.WithTimeout(context.Background(), leaveTime/2)
		c.noteMain(ctx)
		cancel()
	}
	b := []byte(syncEnd)
	if c.look.Plain {
		b = append(b, plainReset+"\x1b[?25h"...)
		b = paint.AppendMove(b, c.rows-1, 0)
		return append(b, "\r\n"+terminal.Printable(c.lastLine())+"\r\n"...)
	}
	if c.way != wayNone { // else the cursor is where the client's own screen has it
		b = append(b, marginReset...)
	}
	b = append(b, penReset+inputReset...)
	if c.way != wayNone {
		b = append(b, leaveAlternate...)
	}
	b = append(b, penReset+kittyReset+colorReset+cursorReset...)
	switch {
	case !c.painted: // the client's own screen is back, cursor and all
		b = append(b, '\r')
	case c.mainRow >= 0:
		b = append(b, marginReset...)
		b = paint.AppendMove(b, min(c.mainRow, c.rows-1), 0)
		b = append(b, "\r\n\x1b[J"...)
	default:
		b = append(b, marginReset...)
		b = paint.AppendMove(b, c.rows-1, 0)
		b = append(b, "\r\n"...)
	}
	b = append(b, titlePop...)
	return append(b, terminal.Printable(c.lastLine())+"\r\n"...)
}

func (c *client) lastLine() string {
	name := c.Session.Name()
	back := fmt.Sprintf("come back with: ssh -t %s attach %s", c.Host, name)
	var kicked *KickedError
	var detached *DetachedError
	switch {
	case errors.As(c.over, &detached):
		return "detached from " + name + " by " + detached.By + "; " + back
	case c.over == nil, errors.Is(c.over, ErrClientGone), errors.Is(c.over, ErrDashboard):
		return "detached from " + name + "; " + back
	case errors.Is(c.over, ErrEnded):
		return name + " has ended: " + c.member.Status().End
	case errors.As(c.over, &kicked):
		return "berth: " + kicked.Reason
	default:
		return "berth: " + c.over.Error() + "; " + back
	}
}
