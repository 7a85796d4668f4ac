package attach

// copy has the client's terminal take a write to its clipboard, before what is drawn next. Of several that
// wait the last counts, as it would on the clipboard.
func (c *client) copy(write string) {
	if !c.look.Plain { // such a terminal prints what it doesn't know
		c.clip = []byte("\x1b]52;" + write + "\x1b\\")
	}
}
