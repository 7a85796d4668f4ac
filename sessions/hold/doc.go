// Package hold keeps a program running while servers come and go.
//
// A holder is one small process for each session, `berth-hold hold` (Start, Main).
// It opens the PTY, starts the program, drains the PTY into a journal of plain
// files, and serves input over a Unix socket to one server at a time (Link). It
// knows nothing of screens or SSH.
//
// The journal lies in the session's folder and can be read with or without a
// holder alive:
//
//	output/00000000000000000000.out    bytes, named by the offset of the first
//	output/00000000000000000000.time   "unix_millis offset" lines beside them
//	control/00000000000000000001.jsonl one Record a line, named by the first
//	hooks/00000000000000000007.json    a hook's payload too long for its record
//	holder.json                        how to find the holder (Dial)
//	holder.log                         what the holder couldn't report elsewhere
//
// A segment's start plus its length is the next offset of the stream: there
// is no second place that could disagree.
//
// The journal isn't synced: it survives the kill of any process, not a power loss.
// The holder deletes the oldest segments past a limit, whether or not they were read;
// a reader then gets a TrimmedError, or a jump in the records' numbers.
//
// On the server's socket, frame.go lists the frames. The holder sends a wake (the
// offset of the output and the number of the last record), the server says how far
// it has read (Link.Consumed), and keystrokes and other input are acknowledged once
// they are typed. Bytes of output are sent only while the disk fails.
//
// A second socket takes the events of agents' hooks (Hook, which is `berth-hold
// hook`). Only a process that descends from the holder may use it. If the session
// has its own OS user, the process must run as that user or root. The holder closes
// any other connection without a record. Hooks that wait for a verdict wait in the
// holder, for the server that answers first: see HookData and Link.Verdict. Above
// 200 hooks a second the holder records 10 of each name and counts the others
// (KindCoalesced); a hook that asks then gets no verdict.
package hold
