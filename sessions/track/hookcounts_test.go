package track

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
}
