package member

import (
	"fmt"
	"testing"
	"time"

	"berth/fleet/registry"
)

// TestTurns has many hosts, each from another moment on, look for some beats' time: each beats once in registry.BeatEvery, and all
// of them at few moments.
func TestTurns(t *testing.T) {
	moments := map[time.Duration]int{}
	for i := range 200 {
		host, began := fmt.Sprint("box", i), time.Date(2026, 11, 27, 8, 0, 0, 37+i*7_000_000, time.UTC)
		var beats []time.Time
		last := turn(host, began)
		for now := began; now.Sub(began) < 4*registry.BeatEvery; now = now.Add(untilLook(now)) {
			if turn(host, now) != last {
				last, beats = turn(host, now), append(beats, now)
				moments[now.Sub(now.Truncate(registry.BeatEvery))]++
			}
		}
		if len(beats) != 4 && len(beats) != 3 {
			t.Errorf("%s: %d beats", host, len(beats))
		}
		for k := range beats[1:] {
			if pause := beats[k+1].Sub(beats[k]); pause != registry.BeatEvery {
				t.Errorf("%s: a pause of %s", host, pause)
			}
		}
	}
	if len(moments) != beatSlots {
		t.Errorf("hosts beat at %d moments: %v", len(moments), moments)
	}
}
