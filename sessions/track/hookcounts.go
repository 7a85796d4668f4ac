package track

import "berth/sessions/hold"

// HookCounts are of the hook events that a session, or all of them, had since
// the server began.
type HookCounts struct {
	Told      uint64 `json:"told"`      // each an event of its own
	Coalesced uint64 `json:"coalesced"` // too many in a second: counted only
	Long      uint64 `json:"long"`      // of those told: of more than 64 KiB, in the event as their head
	Truncated uint64 `json:"truncated"` // of more than 4 MiB, and cut
	Malformed uint64 `json:"malformed"` // no JSON
	Bytes     uint64 `json:"bytes"`     // of all payloads, as the agents wrote them
	Longest   uint64 `json:"longest"`   // of these
}

func (n *HookCounts) hook(h hold.HookData) {
	yes := func(b bool) uint64 {
		if b {
			return 1
		}
		return 0
	}
	n.Add(HookCounts{
		Told: 1, Long: yes(h.Head != ""), Truncated: yes(h.Truncated), Malformed: yes(h.Malformed),
		Bytes: uint64(max(h.Bytes, 0)), Longest: uint64(max(h.Bytes, 0)),
	})
}

// Add adds the counts of another.
func (n *HookCounts) Add(o HookCounts) {
	n.Told, n.Coalesced, n.Long = n.Told+o.Told, n.Coalesced+o.Coalesced, n.Long+o.Long
	n.Truncated, n.Malformed, n.Bytes = n.Truncated+o.Truncated, n.Malformed+o.Malformed, n.Bytes+o.Bytes
	n.Longest = max(n.Longest, o.Longest)
}
