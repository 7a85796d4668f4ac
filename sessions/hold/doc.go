// Package hold keeps a program running while servers come and go.
//
// A holder is one small process for each session, re-executed from the
// server's own binary (Start, Main). It opens the PTY, starts the program,
// drains the PTY into a journal of plain files, and serves input over a Unix
// socket to one server at a time (Link). It knows nothing of screens or SSH.
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
// A second socket takes what agents' hooks tell (Hook, which is `berth hook`).
// Those that wait for a verdict wait in the holder, for whichever server
// answers first: see HookData and Link.Verdict.
package hold
