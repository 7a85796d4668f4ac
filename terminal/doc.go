// Package terminal is Berth's terminal emulator. The bytes of a PTY go in; a screen with its
// scrollback, replies to queries, and a filtered stream for clients come out. It knows nothing of
// sessions, agents or SSH.
//
// A Terminal takes output by Write. The parser (parser.go) splits it into runes and sequences; print.go,
// csi.go, osc.go, modes.go and sgr.go apply them to one of two screens; lines that scroll off the main
// screen go to the history. What the program asked for or announced (replies, titles, the bell, OSC
// notices) is passed to the Handlers at once, with the offset in the stream.
//
// There are three ways to read it:
//
//   - Snapshot is the screen at one moment. Snapshots are immutable and share lines: a row that is the
//     same in two snapshots is the identical *Line. Drivers, the dashboard and clients whose window has
//     another size read snapshots.
//   - Repaint is a byte sequence that draws the screen on a client's terminal, and TakePass is the
//     stream that continues from there: printable text, and only the sequences that this package knows
//     and the policy allows, written again. Queries and unknown sequences never reach a client. If too
//     much has gathered since the last TakePass, it returns a repaint instead.
//   - Checkpoint is the whole state, also in the middle of a sequence. Restore continues exactly there.
//
// Invariants:
//
//   - The state depends only on the bytes, the resizes between them, and the options; how the bytes are
//     split into Writes makes no difference. So a journal that is replayed makes the same screen. (The
//     age of a synchronized update uses the clock, and only InSync shows it.)
//   - Sizes, history, titles and sequences are bounded, so that no output can take unbounded memory.
//   - A panic while it handles output costs the screen's content, not the server: Write starts again with
//     an empty screen and counts it (Panics).
//   - Text for people that came from a program goes through Printable or Reveal, so that it can't control
//     their terminals.
//
// A Terminal isn't safe for concurrent use. In a server, the loop of its session owns it (package
// sessions); snapshots and byte slices may be used by any goroutine. Package terminal/paint writes cells
// to a client's terminal.
package terminal
