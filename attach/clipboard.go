package attach

// copy has the client's terminal take a write to its clipboard, before what is drawn next. Of several that
// wait the last counts, as it would on the clipboard. So a client that takes nothing for a while gets the
// newest one and misses those before it.
func (c *client) copy(write string) {
	if !c.look.Plain { // such a terminal prints what it doesn't know
		c.clip = []byte("\x1b]52;" + write + "\x1b\\")
	}
}

// copyOwn copies what the client has copied in the history.
func (c *client) copyOwn() {
	if c.pager.clip == "" {
		return
	}
	if c.look.Plain {
		c.pager.said = "your terminal (TERM=" + c.Term + ") takes no clipboard"
	}
	c.copy(c.pager.clip)
	c.pager.clip = ""
}
