// Package conn carries connections over NATS: a net.Conn between a fleet's gateway and one of its
// members, which has dialled out to NATS and may have no open port. SSH runs over it end to end.
//
// The gateway has a Dialer, the member a Listener; each is one end (see end.go) with any number of
// streams over one NATS connection. A stream has a key, and two subjects:
//
//	berth.to.MEMBER.open        the gateway asks for a stream
//	berth.to.MEMBER.c.KEY       frames to the member
//	berth.from.MEMBER.c.KEY     frames from the member
//
// So a member's NATS user needs to publish below berth.from.MEMBER and to read below berth.to.MEMBER,
// and nothing else.
//
// NATS delivers at most once. A stream never loses or reorders a byte without an error: each frame of
// data has its offset, and each sign of life the number of bytes that were sent before it. A gap ends
// the stream. A stream doesn't survive a lost NATS connection: it ends at both ends.
//
// A receiver grants credit, at most Options.Window bytes that aren't read yet, so a slow reader stops
// its writer and nothing else. A stream ends
//
//   - at once when the other end closes it, or when this end's NATS connection breaks;
//   - within Options.Alive when the other end's process or its NATS connection is gone (NATS then
//     reports that the subject has no reader, or the end doesn't know the key);
//   - within Options.Silence plus Options.Alive when nothing arrives for another reason.
//
// An end has one goroutine, for signs of life, and those of its NATS subscriptions. A stream has none.
package conn
