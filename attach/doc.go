// Package attach joins a client's terminal to a session. It paints the session's screen there, follows its
// output, passes on what the client types, obeys the prefix keys, and restores the client's terminal at the
// end. It sees a session only through the interfaces Session and Member, which sshd/dispatch implements over
// package sessions.
//
// Run attaches a terminal; RunPlain attaches a client without one, which gets the screen as text and then
// each new line. Both return when the client detaches, the session ends, the client is gone, or their
// context ends.
//
// The client's loop is one goroutine (client.run), which owns all its state. Around it run at most three
// more: one reads the client's input (unless the input can be asked without waiting), one writes to the
// client, and one performs what takes time, such as typing into a program that doesn't read. All of them end
// before Run returns.
//
//	client's keys ─▶ inputParser ─┬▶ prefix keys: commands of this package
//	                              └▶ Member.TryType, else Member.Type ─▶ the session
//	the session ─▶ Queue ─────────┬▶ the client's terminal          (it has the session's size)
//	            └▶ Snapshot ─▶ canvas ─▶ only the changed cells     (it has another size, or shows a message)
//
// Invariants:
//
//   - A client pulls, and the session never waits for one. The session pushes output into a bounded Queue, or
//     rings a bell that holds one signal. A queue that overflows drops everything, and the client is
//     repainted.
//   - A client follows the output stream only after a repaint that ends at exactly the stream's next byte
//     (Member.Resync). A resize starts that again.
//   - Input keeps its order. What the client typed after the detach key is put back into its input, so that
//     the dashboard or the next session gets it.
//   - Keys, clicks and the wheel of a client take control of the session if it is free. While another client
//     has control they aren't sent, and neither are mouse moves and focus reports.
//   - While its loop sleeps and nothing else is to be drawn, an echo goes straight from the queue to the
//     client's channel (Queue.Straight) without waking the loop.
//
// The drawn view uses the client's alternate screen, so that its own scrollback stays unchanged. The filtered
// stream contains no queries (package terminal), so replies of the client's terminal are dropped
// (input.go, terminal/keyboard) and never reach the program.
package attach
