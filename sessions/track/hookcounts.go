package track

import "berth/sessions/hold"

// HookCounts counts the hook events of one session, or of all sessions, since the server started.
type HookCounts struct {
	Told      uint64 `json:"told"`      // with an event of their own
	Coalesced uint64 `json:"coalesced"` // only counted, because there were too many in a second
	Long      uint64 `json:"long"`      // with an event that has only the head, because of more than 64 KiB
	Truncated uint64 `json:"truncated"` // cut, because of more than 4 MiB
	Malformed uint64 `json:"malformed"` // not JSON
	Bytes     uint64 `json:"bytes"`     // size of all payloads, as the agents wrote them
	Longest   uint64 `json:"longest"`   // size of the longest payload
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

// Add adds other counts.
func (n *HookCounts) Add(o HookCounts) {
	n.Told, n.Coalesced, n.Long = n.Told+o.Told, n.Coalesced+o.Coalesced, n.Long+o.Long
	n.Truncated, n.Malformed, n.Bytes = n.Truncated+o.Truncated, n.Malformed+o.Malformed, n.Bytes+o.Bytes
	n.Longest = max(n.Longest, o.Longest)
}
