// Package sessions is the facade over Berth's sessions for commands, tui and sshd/dispatch. A Registry makes,
// finds and removes sessions, and takes over the ones that exist when the server starts. A Session is one
// program on one PTY; its methods may be called from any goroutine.
//
// # Kernel, parts and facade
//
// Each session has a loop, one goroutine that owns everything that changes. Its kernel is package
// sessions/loop: it reads the journal, applies records, keeps the clock, and writes events and checkpoints. The
// emulator is package sessions/screen. The concerns of a session are parts, each in its own folder:
//
//	track      what Berth knows of the agent: driver, fold (package detect), session log, usage
//	clients    who is attached, who has control (sessions/lease), the size
//	gates      stop gate, start contexts, reports, transcripts
//	prompts    answers to prompts, startup prompts, interrupt
//	outbox     messages to the agent (sessions/deliver), their queue, stashed drafts
//	life       starts and ends of the program, its holder, automatic restarts, limits
//	folder     what git reports of the session's folder (folder.go, in this package)
//
// The kernel passes each control record and the clock to every part in that order, because the later ones use
// what track knows. Parts don't import each other. Type core wires them to the kernel and to each other
// (wiring.go, program.go). Methods of Session run functions on the loop (Session.do), or read the Status that
// core publishes.
//
// # Invariants
//
// Beside those of package sessions/loop:
//
//   - The session's folder has everything that a server needs: session.json, the journal (package hold) and
//     the checkpoint. The server may be killed at any moment; the next one restores the checkpoint, reads the
//     journal from there, and continues.
//   - Bytes reach the program only through the holder, and only under a grant of the lease. (The emulator's
//     replies to the program's own queries need none.) A verb's rights are checked again before each write.
//   - While the loop sleeps, the client with control may write to the holder itself (clients/fastpath.go). The loop
//     closes this fast path before it does anything, and knows what was typed.
//
// # Files
//
// Files use each other in one direction:
//
//	values            spec, environment, status, births, eventdata
//	the three types   registry, session, core
//	the wiring        wiring, program: what kernel and parts use of each other
//	the life          holder, resume, lifecycle: how a holder is started
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
