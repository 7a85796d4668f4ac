// Package metrics is Berth's numbers in the form of Prometheus. One list (all) has the name, the
// labels and the meaning of each; docs/metrics.md and the dashboard file are checked against it.
//
// Metrics makes most numbers when it is scraped, from snapshots that the other packages keep anyway.
// Only two things are counted all the time: the echoes of keys, and events, which a goroutine
// follows until Close. Labels have only values from fixed lists: no name, id or identity of a
// session or a caller. cmd/berth makes one Metrics; the verb metrics calls Write, and Serve answers
// on listen_metrics. Both may be called at the same time.
package metrics
