package sessions

import (
	"testing"

	"berth/sessions/hold"
)

func TestHookCounts(t *testing.T) {
	var one HookCounts
	one.hook(hold.HookData{Bytes: 10, Payload: []byte("{}")})
	one.hook(hold.HookData{Bytes: 5 << 20, Head: "{", Truncated: true, Malformed: true})
	want := HookCounts{Told: 2, Long: 1, Truncated: 1, Malformed: 1, Bytes: 10 + 5<<20, Longest: 5 << 20}
	if one != want {
		t.Errorf("%+v, want %+v", one, want)
	}
	var h HookHealth
	h.see(&Status{Spec: Spec{Name: "calm"}, Hooks: one})
	for i := range 30 {
		h.see(&Status{Spec: Spec{Name: "storm"}, Hooks: HookCounts{Told: 200, Coalesced: uint64(100 + i)}})
	}
	h.sort()
	if h.Told != 2+30*200 || h.Longest != 5<<20 || len(h.Storms) != mostStorms || h.Storms[0].Coalesced != 129 || h.Coalesced != 30*100+435 {
		t.Errorf("%+v", h)
	}
}
