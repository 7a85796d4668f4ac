package attach

import (
	"context"
	"sync"
	"time"

	"berth/terminal"
	"berth/terminal/keyboard"
	"berth/terminal/paint"
)

// way is how a client is being shown the session.
type way int

const (
	wayNone way = iota // nothing painted yet
	wayPass            // the output stream, after a repaint
	wayView            // drawn from snapshots, on the alternate screen
)

// client is one attached terminal. All fields belong to the goroutine of run.
type client struct {
	Options
	look   paint.Look
	member Member
	parser *inputParser
	prompt promptInput // In, if it is one, and
	keys   []byte      // the buffer for it
	out    *output
	ops    *ops

	cols, rows int // the client's window
	status     Status
	writer     bool // as of status
	mouse      bool // likewise: it writes, or a click would make it the writer

	way     way
	queue   *Queue
	canvas  *canvas
	crop    crop
	modes   *inputModes // as set in wayView; nil is unknown
	overlay *overlay
	pager   *pager
	picture *terminal.Snapshot // last drawn in wayView

	painted  bool // the session's main screen was painted on the client's
	mainRow  int  // last row of it in use when it was last looked at, -1 unknown
	mark     *mark
	title    *string // as set in wayView; nil is unknown
	history  bool    // history was sent
	stale    bool    // something changed since the last frame
	resync   bool    // what was painted does not hold any more
	greeted  bool    // how to leave was said
	hinted   bool    // the size was explained
	line     statusLine
	clip     []byte // to be written to the client's clipboard
	nextDraw time.Time
	settle   time.Time // until when the session may follow our window

	timers timers
	over   error // why run is to end
	ending bool
	going  bool   // run ends as soon as it is known what an ESC at the end of rest is
	broken bool   // a write failed
	rest   []byte // input after the detach key
}

func newClient(o Options, m Member, cols, rows int) *client {
	queue := NewQueue()
	queue.echoed, queue.share = o.Echoed, o.Share
	return &client{
		Options: o, member: m, cols: cols, rows: rows,
		look:   paint.NewLook(o.Term, o.Env),
		parser: newInputParser(o.Prefixes),
		queue:  queue,
		canvas: newCanvas(paint.NewLook(o.Term, o.Env), cols, rows),
		timers: timers{clock: o.Clock},

		line:    statusLine{on: o.StatusLine},
		mainRow: -1,
		stale:   true,
	}
}

// run is the client's loop. Beside it run one goroutine that reads, one that
// writes, and one that waits for the session to take what was typed.
func (c *client) run(ctx context.Context) error {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c.out = newOutput(c.Out)
	c.ops = newOps(work, c.member)
	chunks, failed := make(chan []byte), make(chan error, 1)
	var reader sync.WaitGroup
	if in, ok := c.In.(promptInput); ok {
		c.prompt, c.keys = in, make([]byte, 4<<10)
	} else {
		reader.Go(func() { readInput(work, c.In, chunks, failed) })
	}
	defer func() {
		cancel()
		c.timers.stop()
		c.ops.close()
		reader.Wait()
		if len(c.rest) > 0 { // before what the reader has put back
			c.In.Unread(c.rest)
		}
	}()

	c.refresh()
	if !c.look.Plain {
		c.out.send([]byte(titlePush))
	}
	for !c.ending {
		c.produce(ctx)
		if c.ending {
			break
		}
		c.wait(ctx, chunks, failed)
	}
	c.member.Unfollow(c.queue)
	defer c.queue.Stop()
	return c.leave()
}

// refresh takes in the session's status.
func (c *client) refresh() {
	before := c.mouse
	c.status = c.member.Status()
	c.writer = c.status.Writer.Client == c.member.ID()
	c.mouse = c.writer || c.mayWrite() && c.status.Writer.Client == ""
	if c.mouse != before {
		c.resync = true // other modes
	}
	c.stale = true
}

// end makes run leave.
func (c *client) end(why error) {
	c.over, c.ending = why, true
}

// wait sleeps until there is something to do, and does it.
func (c *client) wait(ctx context.Context, chunks <-chan []byte, failed <-chan error) {
	if c.ops.full() {
		chunks = nil
	}
	var typed, ready <-chan struct{}
	if c.prompt != nil && !c.ops.full() {
		typed = c.prompt.Ready()
	}
	if c.way == wayPass {
		ready = c.queue.Ready()
	}
	// While this loop sleeps, all that it would do with an echo is to hand it on.
	if c.way == wayPass && c.mouse && !c.resync && c.out.prompt != nil && !c.out.busy {
		c.queue.Straight(c.out.straight)
		defer c.queue.Straight(nil)
	}
	select {
	case b := <-chunks:
		c.received(ctx, b)
	case <-typed:
		switch n, err, ok := c.prompt.TryRead(c.keys); {
		case n > 0:
			c.received(ctx, c.keys[:n])
		case ok && err != nil:
			c.end(ErrClientGone)
		}
	case <-c.timers.c(timerInput):
		c.timers.set(timerInput, 0)
		c.expired(ctx)
	case <-failed:
		c.end(ErrClientGone)
	case <-ready:
	case <-c.member.Changed():
		c.refresh()
	case n := <-c.member.Notices():
		c.notice(n)
	case write := <-c.member.Clipboard():
		c.copy(write)
	case <-c.Resized:
		c.resized()
	case <-c.timers.c(timerFrame):
		c.timers.set(timerFrame, 0)
	case <-c.timers.c(timerOverlay):
		c.timers.set(timerOverlay, 0)
		c.hide()
	case <-c.timers.c(timerResize):
		c.timers.set(timerResize, 0)
		c.settle = time.Time{}
	case err := <-c.out.done:
		c.out.busy = false
		if err != nil {
			c.broken = true
			c.end(ErrClientGone)
		}
	case err := <-c.ops.refused:
		c.refused(err)
	case r := <-c.ops.results:
		c.ops.finished(r)
		c.answered(r)
	case <-ctx.Done():
		c.end(context.Cause(ctx))
	}
}

// received takes what the client's terminal sent.
func (c *client) received(ctx context.Context, b []byte) {
	c.timers.set(timerInput, 0)
	if c.going {
		c.rest = append(c.rest, b...)
		c.ending = true
		return
	}
	for len(b) > 0 && !c.ending {
		var parts []input
		parts, b = c.parser.feed(b)
		c.input(ctx, parts)
	}
	c.timers.set(timerInput, c.parser.hold())
	if c.ending && len(b) > 0 {
		c.rest = append(c.rest, b...)
		if endsInEscape(c.rest) {
			c.ending, c.going = false, true
			c.timers.set(timerInput, keyboard.EscapeHold)
		}
	}
}

// expired gives up waiting for the rest of a sequence.
func (c *client) expired(ctx context.Context) {
	if !c.going {
		c.input(ctx, c.parser.flush())
		return
	}
	c.rest = append(c.rest[:len(c.rest)-1], escapeKey...)
	c.ending = true
}

// escapeKey is the Escape key in kitty's form. The next reader of the input, the dashboard, can't take it and
// the key after it for one key with Alt.
const escapeKey = "\x1b[27u"

// endsInEscape says that after the whole keys of b an ESC is left.
func endsInEscape(b []byte) bool {
	var d keyboard.Decoder
	d.Feed(b)
	for _, ok := d.Next(); ok; _, ok = d.Next() {
	}
	return string(d.Rest()) == "\x1b"
}

// notice shows the client a notice of the session.
func (c *client) notice(n Notice) {
	switch n.Kind {
	case NoticeLeaseLost:
		c.say(n.By + " has taken over typing · " + c.parser.label() + " w takes it back")
	case NoticeKicked:
		c.end(&KickedError{Reason: n.Text})
	case NoticeDetached:
		c.end(&DetachedError{By: n.By})
	case NoticeText:
		c.say(n.Text)
	}
}

// resized takes in a new window.
func (c *client) resized() {
	cols, rows := c.window()
	if cols == c.cols && rows == c.rows {
		return
	}
	c.cols, c.rows = cols, rows
	c.canvas = newCanvas(c.look, cols, rows)
	c.stale, c.resync, c.hinted = true, true, false
	if c.pager != nil {
		c.pager.resize(cols, rows)
	}
	if c.mouse && c.way == wayPass {
		c.settle = c.Clock.Now().Add(resizeTime)
		c.timers.set(timerResize, resizeTime)
	}
	c.member.Window(cols, c.height())
}

// say shows one line for a moment.
func (c *client) say(text string) { c.show([]string{text}, noticeTime) }

// show lays lines over the picture, for d or, with 0, until a key is pressed.
func (c *client) show(lines []string, d time.Duration) {
	c.overlay = &overlay{lines: lines, sticky: d == 0}
	c.timers.set(timerOverlay, d)
	c.stale = true
}

func (c *client) hide() {
	c.overlay = nil
	c.timers.set(timerOverlay, 0)
	c.stale = true
}

// timers are the few a client has, each off or running.
type timers struct {
	clock Clock
	run   [timerCount]struct {
		c    <-chan time.Time
		stop func()
	}
}

const (
	timerInput   = iota // give up on a sequence
	timerFrame          // the next frame may be drawn
	timerOverlay        // a message goes
	timerResize         // the session has had its time to follow
	timerCount
)

// set starts a timer anew, or stops it when d is 0.
func (t *timers) set(i int, d time.Duration) {
	r := &t.run[i]
	if r.stop != nil {
		r.stop()
		r.c, r.stop = nil, nil
	}
	if d > 0 {
		r.c, r.stop = t.clock.Timer(d)
	}
}

func (t *timers) c(i int) <-chan time.Time { return t.run[i].c }

func (t *timers) on(i int) bool { return t.run[i].stop != nil }

func (t *timers) stop() {
	for i := range t.run {
		t.set(i, 0)
	}
}
