package attach

import (
	"context"
	"time"

	"berth/terminal"
	"berth/terminal/paint"
)

// produce starts the next write to the client when none is under way and there
// is something to write. Once the session has ended and all of it is shown, it
// ends the client.
func (c *client) produce(ctx context.Context) {
	for !c.out.busy && !c.ending {
		if len(c.clip) > 0 {
			c.out.send(c.clip)
			c.clip = nil
			return
		}
		want, now := c.want()
		if !now {
			return
		}
		b, again, err := c.next(ctx, want)
		switch {
		case err != nil:
			c.end(err)
		case len(b) > 0 && want == wayPass && c.out.try(b):
		case len(b) > 0:
			c.out.send(b)
		case again:
		case c.status.Ended && c.pager == nil && !c.timers.on(timerFrame):
			c.end(ErrEnded)
		default:
			return
		}
	}
}

// next returns what to write now. With nothing to write, again says that another look may find
// something.
func (c *client) next(ctx context.Context, want way) (b []byte, again bool, err error) {
	switch {
	case want == wayPass && (c.way != wayPass || c.resync):
		b, err = c.repaint(ctx)
		return b, true, err
	case want == wayPass:
		return c.passOn()
	case c.way == wayPass:
		b, err = c.enterView(ctx)
	default:
		b, err = c.frame(ctx)
	}
	return b, false, err
}

// want is the way the client is to be shown the session, and false while that
// is about to change by itself.
func (c *client) want() (w way, now bool) {
	switch {
	case c.pager != nil || c.overlay != nil || c.hasLine() || c.look.Plain || !c.look.UTF8:
		return wayView, true
	case c.status.Cols == c.cols && c.status.Rows == c.rows:
		return wayPass, true
	case c.way == wayPass && c.Clock.Now().Before(c.settle) && !c.status.Ended:
		return wayPass, false
	}
	return wayView, true
}

// passOn takes what is queued; a queue that overflowed asks for a repaint.
func (c *client) passOn() (b []byte, again bool, err error) {
	b, lagged := c.queue.Take()
	if lagged {
		c.resync = true
		return nil, true, nil
	}
	if len(b) > 0 && !c.mouse {
		b = withoutMouse(b)
		again = true // it may have been nothing else
	}
	return b, again, nil
}

// repaint begins, or begins anew, to follow the stream.
func (c *client) repaint(ctx context.Context) ([]byte, error) {
	var o terminal.RepaintOptions
	if !c.history {
		o.History = max(c.History, 0)
	} else if c.way == wayView {
		o.History = c.missed(ctx)
	}
	paint, err := c.member.Resync(ctx, c.queue, o)
	if err != nil {
		return nil, err
	}
	if paint.Cols != c.cols || paint.Rows != c.rows {
		// The session was resized since: status says so now, or the writer's
		// window is on its way.
		c.member.Unfollow(c.queue)
		c.queue.Stop()
		c.status.Cols, c.status.Rows = paint.Cols, paint.Rows
		return nil, nil
	}
	b := c.prologue([]byte(syncBegin))
	if c.mouse {
		b = append(b, paint.Bytes...)
	} else {
		b = append(b, withoutMouse(paint.Bytes)...)
	}
	b = append(b, syncEnd...)
	c.way, c.resync = wayPass, false
	c.painted, c.history = true, true
	c.picture, c.modes, c.title, c.mark = nil, nil, nil, nil
	c.settle = time.Time{}
	c.greet()
	return b, nil
}

// prologue takes the client's terminal from wherever it is to where a repaint
// can begin, without touching its scrollback. The first time, what was on the
// screen before is scrolled up into it.
func (c *client) prologue(b []byte) []byte {
	if c.painted || c.way == wayView {
		b = append(b, leaveAlternate...)
	}
	b = append(b, marginReset+penReset+inputReset...)
	if !c.painted {
		b = paint.AppendMove(b, c.rows-1, 0)
		for range c.rows {
			b = append(b, '\n')
		}
	}
	return b
}

// enterView leaves the stream for the drawn view.
func (c *client) enterView(ctx context.Context) ([]byte, error) {
	c.member.Unfollow(c.queue)
	c.queue.Stop()
	c.noteMain(ctx)
	c.way = wayNone
	return c.frame(ctx)
}

// frame draws the next picture, if it is time and there is one.
func (c *client) frame(ctx context.Context) ([]byte, error) {
	if !c.stale {
		return nil, nil
	}
	if wait := c.nextDraw.Sub(c.Clock.Now()); wait > 0 && c.way == wayView {
		if !c.timers.on(timerFrame) {
			c.timers.set(timerFrame, wait)
		}
		return nil, nil
	}
	b, err := c.begin(nil), error(nil)
	if c.pager != nil {
		b = c.drawPager(b)
	} else if b, err = c.drawPicture(ctx, b); err != nil {
		return nil, err
	}
	c.timers.set(timerFrame, 0)
	c.stale = false
	c.nextDraw = c.Clock.Now().Add(frameTime)
	return b, nil
}

// begin puts the client's terminal onto its alternate screen.
func (c *client) begin(b []byte) []byte {
	if c.way == wayView {
		if c.resync { // another window: the terminal has moved what was there
			c.canvas.valid, c.resync = false, false
		}
		return b
	}
	if c.look.Plain {
		b = append(b, plainReset...)
	} else {
		b = append(b, enterAlternate+marginReset+penReset+wrapOff...)
	}
	c.way, c.modes, c.resync = wayView, nil, false
	c.canvas.valid, c.canvas.shape = false, -1
	return b
}

func (c *client) drawPager(b []byte) []byte {
	b = c.setModes(b, inputModes{})
	return c.canvas.draw(b, c.pager.view(), terminal.Cursor{})
}

func (c *client) drawPicture(ctx context.Context, b []byte) ([]byte, error) {
	s, err := c.member.Snapshot(ctx, 0)
	if err != nil {
		return nil, err
	}
	newer := c.picture != nil && s.Offset != c.picture.Offset
	c.picture = s
	c.hint(s)
	b = c.setModes(b, modesFor(s.Modes, c.mouse))
	b = c.setTitle(b, s.Title)
	rows, cursor := c.crop.view(s, c.cols, c.height())
	if c.overlay != nil {
		c.overlay.cover(rows, c.cols, &cursor)
	}
	if c.hasLine() {
		rows = append(rows, rowView{over: c.statusLabel()})
	}
	b = c.canvas.draw(b, rows, cursor)
	if newer {
		c.queue.printed()
	}
	return b, nil
}

// setModes changes what the client's terminal sends.
func (c *client) setModes(b []byte, to inputModes) []byte {
	if c.look.Plain { // these know none, and print what they do not know
		to.kitty, to.modifyOther = 0, 0
		if c.modes == nil {
			c.modes = &inputModes{}
		}
	}
	b = appendModes(b, c.modes, to)
	c.modes = &to
	return b
}

// setTitle gives the client's window the session's title.
func (c *client) setTitle(b []byte, title string) []byte {
	if c.look.Plain || c.title != nil && *c.title == title {
		return b
	}
	c.title = &title
	b = append(b, "\x1b]2;"...)
	b = append(b, terminal.Printable(title)...)
	return append(b, "\x1b\\"...)
}

// hint explains once for each window why the picture is not whole, or smaller
// than the window.
func (c *client) hint(s *terminal.Snapshot) {
	switch {
	case s.Cols == c.cols && s.Rows == c.height():
		c.greet()
	case !c.hinted && c.overlay == nil:
		c.hinted, c.greeted = true, true
		c.show(append(c.warning(), c.hintText(s), c.greeting()), hintTime)
	}
}

// greet says how to leave, once.
func (c *client) greet() {
	if !c.greeted && c.overlay == nil {
		c.greeted = true
		c.show(append(c.warning(), c.greeting()), noticeTime)
	}
}

func (c *client) greeting() string { return c.parser.label() + " d leaves · ? help" }

// warning is what is said at first, before the rest.
func (c *client) warning() []string {
	if c.Warning == "" {
		return nil
	}
	said := c.Warning
	c.Warning = ""
	return []string{said}
}

// view is the rows of a picture that a window shows, and where the cursor is
// in it.
func (c *crop) view(s *terminal.Snapshot, cols, rows int) ([]rowView, terminal.Cursor) {
	c.follow(s.Cursor, s.Cols, s.Rows, cols, rows)
	view := make([]rowView, rows)
	for y := range min(rows, s.Rows-c.top) {
		view[y] = rowView{line: s.Lines[c.top+y], left: c.left, cols: s.Cols}
	}
	cur := s.Cursor
	cur.Row -= c.top
	cur.Col -= c.left
	if cur.Row < 0 || cur.Row >= rows || cur.Col < 0 || cur.Col >= cols {
		cur.Row, cur.Col, cur.Visible = 0, 0, false
	}
	return view, cur
}
