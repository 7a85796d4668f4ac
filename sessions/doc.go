// Package sessions is the facade over Berth's sessions for commands, tui and sshd/dispatch. A Registry makes,
// finds and removes sessions, and takes over the ones that exist when the server starts. A Session is one
// program on one PTY; its methods may be called from any goroutine.
//
// # The loop
//
// One goroutine for each session, its loop (loop.go, type core), owns the emulator and everything that
// changes. Other goroutines hand it functions (Session.do) or read the Status that it publishes at the end of
// each turn. In a turn the loop
//
//  1. reads from the journal what the holder has written, at most 64 KiB of output (loop.Journal): output goes
//     to the emulator, and each control record is applied after the output before it (records.go);
//  2. does what is due by the clock (tick);
//  3. publishes the Status and rings the clients;
//  4. sleeps until a call, a signal of the holder, a changed file of the agent, a new window size, or the next
//     deadline.
//
// The loop never waits for a client, a program or the network. What takes time runs in the background and comes
// back as a call.
//
// # Parts
//
// The concerns of a session are parts (sessions/loop.Part), each in its own folder and listed in wiring.go:
//
//	track      what Berth knows of the agent: driver, fold (package detect), session log, usage
//	clients    who is attached, who has control (sessions/lease), the size
//	gates      stop gate, start contexts, reports, transcripts
//	prompts    answers to prompts, startup prompts, interrupt
//	outbox     messages to the agent (sessions/deliver), their queue, stashed drafts
//
// The loop passes each control record and the clock to every part in that order, because the later ones use
// what track knows. A part acts through its Env, a struct of functions, so it is tested without a loop.
// core wires the parts together; parts don't import each other.
//
// # Invariants
//
//   - The session's folder has everything that a server needs: session.json, the journal (package hold) and
//     the checkpoint. The server may be killed at any moment; the next one restores the checkpoint, reads the
//     journal from there, and continues.
//   - All events that follow from one control record are appended in one step and name the record, so after a
//     kill the next server appends the missing ones and no other.
//   - Bytes reach the program only through the holder, and only under a grant of the lease. (The emulator's
//     replies to the program's own queries need none.) A verb's rights are checked again before each write.
//   - A control record is applied after exactly the output that came before it. So a replay makes the same
//     screen, and a prompt or a draft is never compared with an older one.
//   - While the loop sleeps, the client with control may write to the holder itself (clients/fastpath.go). The loop
//     closes this fast path before it does anything, and knows what was typed.
//
// # Files
//
// Files use each other in one direction:
//
//	values            spec, environment, status, births, backoff, eventdata
//	the three types   registry, session, core; events appends a session's events
//	the journal       emulator, records, ends, link, checkpoint, picture: what output and records do
//	the life          holder, resume, lifecycle, restart, loop
//	for callers       open, adopt, new, retention, and a file for each thing that callers ask for
//
// # Who calls whom
//
//	PTY bytes ─▶ hold ─▶ journal ─▶ loop ─┬▶ emulator ─▶ snapshots, filtered stream ─▶ clients
//	                                      └▶ parts ─▶ events ─▶ watchers (sessions/events)
//	key ─▶ sshd.Session ─▶ attach ─▶ clients ─▶ holder's socket ─▶ PTY
//	hook ─▶ berth-hold hook ─▶ holder ─▶ control record ─▶ loop ─▶ track ─▶ events
//	nudge ─▶ commands ─▶ outbox ─▶ clients (the lease) ─▶ holder's socket ─▶ PTY
package sessions
