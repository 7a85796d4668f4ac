package deliver

import (
	"time"

	"berth/agent"
)

// Seen is a session at one moment, as a delivery sees it: its state, its screen and its terminal.
type Seen struct {
	State    agent.State
	Asks     bool           // a prompt is open, on the screen or not yet
	Reading  *agent.Reading // of the newest screen; nil while that is being drawn, or is not to be relied on
	Rows     []string       // the texts of that screen's rows
	Paste    bool           // the terminal's mode of bracketed paste
	Unpasted bool           // another process has turned that mode off, or its terminal changes bytes: characters would be keys of a dialog that comes
	Typed    time.Time      // when a person last typed
	Printed  time.Time      // when there was output last
	Unread   int            // bytes that were typed and that the program has not read; -1 if unknown
	Held     bool           // the program is halted, or another process has the terminal keep what is typed: Enter would reach a later dialog
	Halted   bool           // the program is stopped by a signal or by a debugger
	Computes bool           // it has work that it wants a processor for: what it has read it may not have acted on
	// Covered: the last dialog left the screen, and no answer to it is known. Another process may have drawn the composer over it.
	Covered bool
	Echoed  bool // the terminal itself has drawn the word that tries the composer, or it isn't known who has
	// When the first composer was seen; before that it is unknown what reads the keys.
	Composed time.Time
	// How long it took to draw that, from its start or from a dialog on the way; 0 when
	// that was not seen.
	Drew time.Duration
	// Interrupt: a client waits for the end of the delivery, to interrupt the turn.
	Interrupt bool
}
