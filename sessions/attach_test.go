package sessions

import "testing"

// attachedAtOnce is how many attachments of one identity have events of their own at once.
const attachedAtOnce = 60

// A session emits as many ends of clients as beginnings: each that came went.
func TestAttachmentsInALoop(t *testing.T) {
	p := open(t)
	s := p.sh("one", "sleep 600")
	for range 2 * attachedAtOnce {
		m, err := s.Join(t.Context(), Visitor{Actor: tester, ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		m.Leave()
	}
	got := p.log(s.ID())
	// The loop above may last as long as one more takes, on a busy machine a few.
	came, went := len(got["client_attached"]), len(got["client_detached"])
	if came < attachedAtOnce || came > attachedAtOnce+10 || went != came {
		t.Errorf("%d came and %d went", came, went)
	}
}
