package dispatch

import (
	"testing"

	"berth/api"
	"berth/keys"
)

// TestCarriedOfOneCaller: a caller has a bounded number of sessions on hosts, and takes none of another's.
func TestCarriedOfOneCaller(t *testing.T) {
	var c carried
	ann, bob := keys.Identity{Kind: keys.KindKey, Name: "ann"}, keys.Identity{Kind: keys.KindKey, Name: "bob"}
	var leave func()
	for range carriedEach {
		var err error
		if leave, err = c.enter(ann); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.enter(ann); api.AsError(err).Code != api.CodeLimit {
		t.Errorf("one more: %v", err)
	}
	ends, err := c.enter(bob)
	if err != nil {
		t.Fatal(err)
	}
	leave()
	ends()
	if _, err := c.enter(ann); err != nil || len(c.open) != 1 {
		t.Errorf("after one has ended: %v, %d callers are counted", err, len(c.open))
	}
}
