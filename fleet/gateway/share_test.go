package gateway

import (
	"testing"
	"time"
)

// TestShare: a host that sends without end has no more than its share, and the others have theirs.
func TestShare(t *testing.T) {
	s, now := newShare(10), time.Now()
	takes := func(host string) (n int) {
		for s.take(host, 1, now) && n < 1000 {
			n++
		}
		return n
	}
	if n := takes("box2"); n != 20 {
		t.Errorf("at first: %d", n)
	}
	if n := takes("box3"); n != 20 {
		t.Errorf("another host: %d", n)
	}
	now = now.Add(time.Second)
	if n := takes("box2"); n != 10 {
		t.Errorf("a second later: %d", n)
	}
	now = now.Add(-time.Hour)
	if n := takes("box2"); n != 0 {
		t.Errorf("when the clock was set back: %d", n)
	}
	now = now.Add(time.Hour)
	if s.take("box2", 21, now); s.take("box3", 21, now) {
		t.Error("more than a share is taken at once")
	}
}
