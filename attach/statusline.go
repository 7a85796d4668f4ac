package attach

import "fmt"

// statusLine is the last row of a client's window, if the client wants it to be that.
type statusLine struct {
	on    bool
	label *label // laid out for text and cols
	text  string
	cols  int
}

// height is how many rows of a window show the session: all but that of the status line. A window of a
// few rows has none to spare.
func height(rows int, line bool) int {
	if line && rows > 3 {
		return rows - 1
	}
	return rows
}

func (c *client) height() int { return height(c.rows, c.line.on) }

// hasLine reports whether the status line is wanted and has a row.
func (c *client) hasLine() bool { return c.height() < c.rows }

// toggleLine shows or hides the status line, which takes a row away from the session.
func (c *client) toggleLine() {
	if c.rows == height(c.rows, true) {
		c.say("this window is too low for a status line")
		return
	}
	c.line.on = !c.line.on
	c.ShowStatusLine(c.line.on)
	c.stale, c.resync, c.hinted = true, true, true // the client knows why the size changes
	c.member.Window(c.cols, c.height())
}

// statusLabel is the status line: what the session does, what its agent may do unasked, who has control,
// and at its end the keys.
func (c *client) statusLabel() *label {
	st := c.status
	text := c.Session.Name() + " · " + st.State
	if st.Mode != "" {
		text += " · " + st.Mode
	}
	if st.Detail != "" {
		text += " · " + st.Detail
	}
	switch {
	case c.writer:
		text += " · you write"
	case st.Writer.Client != "":
		text += " · " + st.Writer.Name + " writes"
	}
	if others := st.Viewers; others > 1 || others == 1 && c.writer {
		text += fmt.Sprintf(" · %d watching", others)
	}
	if c.line.text != text || c.line.cols != c.cols {
		c.line.text, c.line.cols = text, c.cols
		c.line.label = statusLabel(text, c.parser.label()+" ? help", c.cols)
	}
	return c.line.label
}

// statusLabel lays out text at the left and, if there is room, keys at the right.
func statusLabel(text, keys string, cols int) *label {
	l := newLabel(" "+text, cols)
	r := newLabel(keys+" ", cols)
	if len(l.cells)+2+len(r.cells) > cols {
		return l
	}
	for len(l.cells)+len(r.cells) < cols {
		l.cells = append(l.cells, blankLabel)
	}
	l.cells = append(l.cells, r.cells...)
	return l
}
