package track

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"berth/api"
	"berth/sessions/hold"
)

// TestPayloadsOfAFlood: hooks with long payloads take a bounded part of the event log. Short ones have all of theirs.
func TestPayloadsOfAFlood(t *testing.T) {
	b := newBench()
	now := time.Now()
	b.env.Now = func() time.Time { return now }
	n, kept := uint64(0), 0
	send := func(payload string) HookEvent {
		t.Helper()
		n++
		data, err := json.Marshal(hold.HookData{Event: "x", Payload: json.RawMessage(payload)})
		if err != nil {
			t.Fatal(err)
		}
		told, err := b.Record(hold.Record{N: n, Kind: hold.KindHook, Time: api.At(now), Data: data})
		if err != nil {
			t.Fatal(err)
		}
		return told.Events[0].Data.(HookEvent)
	}
	long := `{"Text":"` + strings.Repeat("é", 25_000) + `"}`
	for range 1000 {
		e := send(long)
		kept += len(e.Payload) + len(e.Head)
		if e.Payload == nil && (e.Head == "" || !strings.HasPrefix(long, e.Head)) {
			t.Fatalf("head %q", e.Head)
		}
	}
	if most := payloadsMost<<10 + 1000*shortHead; kept > most || kept < payloadsMost<<9 {
		t.Errorf("events have %d bytes of 1000 hooks, and %d may be", kept, most)
	}
	if e := send(`{"Text":"short"}`); string(e.Payload) != `{"Text":"short"}` || e.Head != "" {
		t.Errorf("%+v", e)
	}
	now = now.Add(payloadsMost * payloadsPause)
	if e := send(long); string(e.Payload) != long {
		t.Error("after a quiet time a payload isn't whole")
	}
}
