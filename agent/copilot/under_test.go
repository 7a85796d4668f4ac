package copilot_test

import "testing"

// TestNeverSeen: the log has a command's permission. A dialog of edits that the log lacks may be drawn over that one's.
func TestNeverSeen(t *testing.T) {
	drawn := partly("Do you want to edit /srv/ws/a.txt?", "1 + hello")
	for _, asked := range []bool{true, false} {
		s := newTalk(t)
		if asked {
			s.starts("a", "touch one.txt", "")
			s.asks("a", in("/srv/ws"))
		}
		keyed := false
		for range 12 {
			_, keyed = s.looks(drawn)
		}
		if keyed == asked {
			t.Errorf("a command asks: %v: keys %v, it asks %+v", asked, keyed, s.f.Status().Requests)
		}
	}
}
