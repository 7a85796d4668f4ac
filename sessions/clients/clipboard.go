package clients

// ClipboardPolicy says whose clipboards a session's program sets (OSC 52).
type ClipboardPolicy int

// The policies.
const (
	ClipboardOff    ClipboardPolicy = iota // no client's
	ClipboardWriter                        // that of the client that has control
	ClipboardAll                           // those of all attached clients
)

// Clipboard hands what the program writes to the clipboard to the clients with a terminal that the policy
// names. It runs on the loop, which alone changes the lease, so a client that has just lost control gets
// nothing.
func (c *Clients) Clipboard(policy ClipboardPolicy, write string) {
	writer, held := c.lease.Holder()
	for id, m := range c.members {
		if m.Terminal && (policy == ClipboardAll || policy == ClipboardWriter && held && writer.ID == id && m.mayWrite() == nil) {
			m.copy(write)
		}
	}
}

// copy replaces the write that the client has yet to take. Only the loop calls it, so there is room for the
// newest one after the older one is out.
func (m *Member) copy(write string) {
	select {
	case <-m.clip:
	default:
	}
	m.clip <- write
}
