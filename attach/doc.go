// Package attach joins a client's terminal to a session: it paints the
// session's screen there, follows its output, passes on what is typed, obeys
// the prefix keys, and puts the client's terminal right again at the end.
//
// A client pulls. The session never waits for it: it pushes into a bounded
// Queue or rings a channel that holds one signal, and goes on. What a client
// could not take in time is made up for by a repaint.
//
// There are two ways to follow. A client whose window has the session's size
// gets the output stream as the emulator passed it on, after a repaint that
// ends at exactly the stream's next byte. Any other client, and one that is
// being shown a message, gets a view drawn from snapshots on its alternate
// screen: the cells around the cursor, only what changed since the last frame.
package attach
