package hold

import (
	"math"
	"testing"
)

// A session inside a session has a lower mark, and no mark is the limit of
// who starts it.
func TestMarkUnder(t *testing.T) {
	seen := map[uint64]bool{}
	for _, top := range []uint64{math.MaxUint64, markTop, markTop - 1, 1<<markHash + 5, 1 << markHash, 1000, 1} {
		limit := top
		for range 4 {
			a, b := markUnder(limit, "a"), markUnder(limit, "b")
			if a >= limit || b >= limit || a >= markTop || limit >= 1<<markHash && a == b {
				t.Errorf("under %d: %d and %d", limit, a, b)
			}
			if limit = b; limit == 0 {
				break
			}
			seen[b] = true
		}
	}
	if a, b := markUnder(math.MaxUint64, "a"), markUnder(markUnder(math.MaxUint64, "a"), "a"); a == b || b == 0 {
		t.Errorf("the same session inside itself: %d %d", a, b)
	}
}
