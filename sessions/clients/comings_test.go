package clients

import (
	"fmt"
	"testing"
	"time"

	"berth/sessions/loop"
)

// A client that attaches in a loop makes so many events, and one with the count of the
// others when it has rested; all of another identity have one.
func TestComingsAreCounted(t *testing.T) {
	c, now := comings{}, time.Unix(1000, 0)
	written := 0
	for range 1000 {
		if ok, _ := c.take("eve", now); ok {
			written++
		}
	}
	if written != comingsAtOnce {
		t.Errorf("%d have an event at once", written)
	}
	if ok, before := c.take("bob", now); !ok || before != 0 {
		t.Errorf("another: %v %d", ok, before)
	}
	now = now.Add(comingEvery)
	if ok, before := c.take("eve", now); !ok || before != 1000-comingsAtOnce {
		t.Errorf("after a rest: %v, %d before it", ok, before)
	}
	if ok, _ := c.take("eve", now); ok {
		t.Error("a rest gives one")
	}
	for i := range 10 * loop.IdentitiesKept {
		now = now.Add(time.Minute)
		c.take(fmt.Sprint(i), now)
	}
	if len(c) > loop.IdentitiesKept+1 { // eve's count is kept
		t.Errorf("%d identities are kept", len(c))
	}
	if _, before := c.take("eve", now); before != 1 {
		t.Errorf("%d before it had no event, want 1", before)
	}
}
