package sshd

// Unread puts bytes back before all others, for the next reader.
func (in *Input) Unread(p []byte) {
	if len(p) == 0 {
		return
	}
	in.mu.Lock()
	in.data = append(append([]byte{}, p...), in.data...)
	in.mark()
	in.mu.Unlock()
	wake(in.fresh)
}

// Hangup closes the call's channel, so that a write which its client does not
// take returns.
func (c *Call) Hangup() { _ = c.channel.Close() } // closed already is as good
