// Package ledger is the order of all events of a fleet. Each host's event log stays the truth about that host. The
// host publishes its log to the gateway, and the gateway appends it to one stream of JetStream. The number of an
// event in the stream is its fleet cursor, f123.
//
// A Publisher sends a host's log, in batches, one at a time. A Ledger, at the gateway, appends them. Each event is in
// the stream once, and those of one host are in the order of its log, over kills of either side at any moment:
//
//   - Each message of the stream says its event and its log. So the newest message of a host says how far its
//     log was appended, and nothing else has to be remembered.
//   - A message is appended only if that newest message is still the one that the gateway knows. So two gateways, or a
//     gateway and what is left of its last process, don't both append an event.
//   - A Publisher first asks how far its log was appended, and asks again after any error. So it doesn't matter
//     whether the batch was appended whose answer was lost.
//
// Hosts don't reach JetStream. A host's events come as requests below its own subject, so the gateway can check them:
// a line that isn't an event becomes a gap, a host can't speak for another, and one that sends too much is slowed
// down. If hosts published to the stream themselves, the stream's acknowledgement would go to any subject that
// they name.
//
// A Follower reads the stream from a cursor. The gateway has one consumer, whose newest lines are in memory for all
// followers. A follower that falls behind them reads the stream, one message at a time. Where messages are gone, it
// gives one gap line in their place.
package ledger
