package attach

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"berth/terminal"
	"berth/terminal/keyboard"
)

// input obeys what the client's terminal sent.
func (c *client) input(ctx context.Context, parts []input) {
	for _, part := range parts {
		switch part.kind {
		case inputText:
			c.typed(part)
		case inputMouse:
			c.mouseEvent(part.data)
		case inputFocus:
			c.focus(part.data)
		case inputCommand:
			c.command(ctx, part.key)
		}
	}
}

// typed takes keys: for the pager or a message if one is open, else for the program. The keys after the one
// that closes the pager or a message are for the program.
func (c *client) typed(part input) {
	b := part.data
	if part.freed && c.member.Status().Strict {
		return
	}
	if !part.paste && c.member.Status().Strict { // any process of the session can set the newline mode, where Enter is two keys
		b = bytes.ReplaceAll(b, []byte("\r\n"), []byte("\r"))
	}
	if c.pager != nil {
		b = c.page(part)
	}
	if c.overlay != nil && c.overlay.sticky && len(b) > 0 {
		b = c.dismiss(part, b)
	}
	switch {
	case len(b) == 0:
	case !c.mayWrite():
		c.refused(ErrReadOnly)
	default:
		if c.mouse && c.overlay != nil { // read, or not of interest
			c.hide()
		}
		if c.mouse { // no other client has control
			c.queue.typed()
		}
		c.ops.typed(b)
	}
}

// page gives keys to the pager. It returns those after the one that closes it.
func (c *client) page(part input) (left []byte) {
	if part.paste && !bytes.HasPrefix(part.data, []byte(keyboard.PasteStart)) {
		return nil // a long paste: its first part was enough to find
	}
	c.stale = true
	var d keyboard.Decoder
	d.Feed(part.data)
	d.Expire() // the parser has kept back what isn't whole
	for k, ok := d.Next(); ok; k, ok = d.Next() {
		if !c.pager.press(k) {
			c.pager = nil
			return d.Rest()
		}
		c.copyOwn()
	}
	return nil
}

// dismiss closes the message with the first key, and returns the keys after it. A paste is more than a key:
// it closes the message, and the program gets it.
func (c *client) dismiss(part input, b []byte) (left []byte) {
	if part.paste {
		c.hide()
		return b
	}
	var d keyboard.Decoder
	d.Feed(b)
	d.Expire()
	if _, ok := d.Next(); !ok {
		return nil
	}
	c.hide()
	return d.Rest()
}

func (c *client) mayWrite() bool { return c.MayWrite && !c.ReadOnly }

// mouseEvent passes an event on, in the session's coordinates, to a program that
// asked for it: an event of the dashboard's may still be on its way. With the lease
// free a click or the wheel takes it, as a key does; moving the mouse does not.
func (c *client) mouseEvent(seq []byte) {
	if seq[2] != '<' && c.member.Status().Strict {
		return
	}
	if c.member.Status().Modes.Mouse == terminal.MouseNone || !c.writer && (!c.mouse || !presses(seq)) || c.pager != nil || c.overlay != nil && c.overlay.sticky {
		return
	}
	if c.way == wayView {
		if c.picture == nil {
			return
		}
		seq = moveMouse(seq, c.crop.left, c.crop.top, c.picture.Cols, min(c.picture.Rows, c.crop.top+c.height()))
	}
	if seq != nil {
		c.ops.ask(op{kind: opType, data: seq})
	}
}

// focus passes on that the window was entered or left, to a program that asked.
func (c *client) focus(seq []byte) {
	if c.writer && c.member.Status().Modes.FocusEvents {
		c.ops.ask(op{kind: opType, data: seq})
	}
}

// command obeys the key after the prefix.
func (c *client) command(ctx context.Context, key rune) {
	switch key {
	case 'd':
		c.end(nil)
	case 'b':
		if !c.Dashboard {
			c.say("there is no dashboard for you here")
			return
		}
		c.end(ErrDashboard)
	case 'w', 'r':
		if !c.mayWrite() {
			c.refused(ErrReadOnly)
			return
		}
		kind := opTake
		if key == 'r' {
			kind = opRelease
		}
		c.ops.ask(op{kind: kind})
	case 'l':
		c.ops.ask(op{kind: opWho})
	case 's':
		c.toggleLine()
	case 'i':
		c.show(stateLines(c.Session.Name(), c.Host, c.member.Status(), c.Clock.Now()), 0)
	case '[':
		c.openPager(ctx)
	case '?':
		c.show(helpLines(c.parser.labels(), c.Session.Name(), c.mayWrite(), c.ReadOnly, c.Dashboard), 0)
	case 0: // Escape and the like: the prefix was a mistake
	default:
		label := c.parser.label()
		c.say(fmt.Sprintf("%s %c does nothing · %s ? helps", label, key, label))
	}
}

func (c *client) openPager(ctx context.Context) {
	s, err := c.member.Snapshot(ctx, pagerHistory)
	if err != nil {
		c.end(err)
		return
	}
	c.overlay = nil
	c.pager = newPager(s, c.cols, c.rows)
	c.stale = true
}

// answered shows the result of a request.
func (c *client) answered(r opResult) {
	switch {
	case r.err != nil:
		c.refused(r.err)
	case r.op.kind == opTake:
		c.refresh()
		c.say("you are writing now")
	case r.op.kind == opRelease:
		c.say("others may write now · typing takes it back")
	case r.op.kind == opWho:
		c.show(whoLines(r.people, c.member.ID(), c.Clock.Now()), 0)
	}
}

// refused says why typing did not arrive.
func (c *client) refused(err error) {
	if c.overlay != nil && c.overlay.sticky {
		return
	}
	var busy *BusyError
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, ErrEnded):
	case errors.As(err, &busy) && busy.MayTake:
		c.say(busy.Writer.Name + " is writing · " + c.parser.label() + " w takes over")
	case errors.As(err, &busy):
		c.say(busy.Writer.Name + " is writing, and your key may not take over")
	case errors.Is(err, ErrReadOnly) && c.status.Writer.Client != "" && !c.writer:
		c.say("view only · " + c.status.Writer.Name + " is writing")
	case errors.Is(err, ErrReadOnly) && c.ReadOnly:
		c.say("view only (--read-only): your typing isn't sent")
	case errors.Is(err, ErrReadOnly):
		c.say("view only, your key may not type: your typing isn't sent")
	default:
		c.say("that did not arrive: " + err.Error())
	}
}

// hintText explains a window of another size than the session's.
func (c *client) hintText(s *terminal.Snapshot) string {
	text := fmt.Sprintf("%s is %dx%d", c.Session.Name(), s.Cols, s.Rows)
	if s.Cols > c.cols || s.Rows > c.height() {
		text += fmt.Sprintf(", you see %dx%d", min(c.cols, s.Cols), min(c.height(), s.Rows))
	}
	if c.mayWrite() && !c.writer {
		text += " · " + c.parser.label() + " w takes over and fits it"
	}
	return text
}

// withoutMouse drops mouse, focus and alternate-scroll modes from a stream of
// whole sequences.
func withoutMouse(b []byte) []byte {
	mark := []byte("\x1b[?")
	if !bytes.Contains(b, mark) {
		return b
	}
	out := make([]byte, 0, len(b))
	for {
		i := bytes.Index(b, mark)
		if i < 0 {
			return append(out, b...)
		}
		out = append(out, b[:i]...)
		b = b[i:]
		end := len(mark)
		for end < len(b) && b[end] >= 0x20 && b[end] < 0x40 {
			end++
		}
		if end == len(b) {
			return append(out, b...)
		}
		out = appendKept(out, b[:end+1])
		b = b[end+1:]
	}
}

// appendKept appends a private mode sequence without the modes that a viewer's
// terminal is not to have.
func appendKept(out, seq []byte) []byte {
	final := seq[len(seq)-1]
	if final != 'h' && final != 'l' {
		return append(out, seq...)
	}
	start := len(out)
	out = append(out, seq[:3]...)
	kept := 0
	for _, mode := range bytes.Split(seq[3:len(seq)-1], []byte{';'}) {
		switch string(mode) {
		case "9", "1000", "1001", "1002", "1003", "1004", "1005", "1006", "1007", "1015", "1016":
			continue
		}
		if kept > 0 {
			out = append(out, ';')
		}
		out = append(out, mode...)
		kept++
	}
	if kept == 0 {
		return out[:start]
	}
	return append(out, final)
}
