// Package loop is the kernel of a session: its loop, the journal, the records, the events and the
// checkpoint. It knows parts and no feature. A part is one concern of a session, such as its stop gate,
// its messages or its clients.
//
// # The loop
//
// Kernel.Run is one goroutine. It owns the emulator (sessions/screen) and everything that changes.
// Other goroutines hand it functions (Kernel.Do). In a turn the loop
//
//  1. reads from the journal what the holder has written, at most 64 KiB of output (Journal). Output
//     goes to the emulator, and each control record is applied after the output before it
//     (Kernel.Record);
//  2. does what is due by the clock: pictures that callers wait for, events that were held back, the
//     Tick of each part;
//  3. has the status published if something has changed (Kernel.Changed, Kernel.Moved);
//  4. writes the checkpoint if one is due, and has the status published again if that changed it;
//  5. sleeps until a call, a signal of the holder or a part, or the next deadline.
//
// The loop never waits for a client, a program or the network. What takes time runs in the background
// (Env.Background) and comes back as a call. Local files are the exception: the loop reads the journal and
// writes events and checkpoints itself, so it stalls with the disk.
//
// # Parts
//
// The kernel gives each part the control records, the clock, and its place in the checkpoint (Part). A
// part acts through its Env, a struct of functions, so it is tested without a loop. One part is the
// Observer: it follows what the program shows, and makes events of what has changed in what Berth knows
// of the agent, also when another part has found the change.
//
// # Invariants
//
//   - All events that follow from one control record are appended in one step, and the first names the
//     record. An Emitter knows the last record that has its events, so the next server appends the
//     missing ones and no other. A record that has its events is applied all the same (Kernel.Record): the
//     parts take it in, the kernel drops the events and calls Observer.Reapply instead of Emit. A change
//     that comes later by time alone has an event of its own, which names no record.
//   - Events that are gathered or paced (keystrokes, for example) come later than that step.
//   - An event's time is that of its appending; what the record says uses the record's time.
//   - A control record is applied after exactly the output that was printed before it.
//   - A checkpoint has the output up to its offset and the records up to its number. Events that
//     Emitter holds back are written before it, because no server makes them again.
//   - Between KernelEnv.Sleep and KernelEnv.Wake, and only then, a client may write to the holder beside
//     the loop.
package loop
