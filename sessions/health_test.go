package sessions

import (
	"testing"

	"berth/sessions/track"
)

func TestHookHealth(t *testing.T) {
	one := HookCounts{Told: 2, Long: 1, Truncated: 1, Malformed: 1, Bytes: 10 + 5<<20, Longest: 5 << 20}
	var h HookHealth
	h.see(&Status{Spec: Spec{Name: "calm"}, View: track.View{Hooks: one}})
	for i := range 30 {
		h.see(&Status{Spec: Spec{Name: "storm"}, View: track.View{Hooks: HookCounts{Told: 200, Coalesced: uint64(100 + i)}}})
	}
	h.sort()
	if h.Told != 2+30*200 || h.Longest != 5<<20 || len(h.Storms) != mostStorms || h.Storms[0].Coalesced != 129 || h.Coalesced != 30*100+435 {
		t.Errorf("%+v", h)
	}
}
