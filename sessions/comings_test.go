package sessions

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A client that attaches in a loop makes so many events, and one with the count of the
// others when it has rested; another identity's are all told.
func TestComingsAreCounted(t *testing.T) {
	c, now := comings{}, time.Unix(1000, 0)
	told := 0
	for range 1000 {
		if ok, _ := c.tell("eve", now); ok {
			told++
		}
	}
	if told != comingsAtOnce {
		t.Errorf("%d are told of at once", told)
	}
	if ok, before := c.tell("bob", now); !ok || before != 0 {
		t.Errorf("another: %v %d", ok, before)
	}
	now = now.Add(comingEvery)
	if ok, before := c.tell("eve", now); !ok || before != 1000-comingsAtOnce {
		t.Errorf("after a rest: %v, %d before it", ok, before)
	}
	if ok, _ := c.tell("eve", now); ok {
		t.Error("a rest gives one")
	}
	for i := range 10 * identitiesKept {
		now = now.Add(time.Minute)
		c.tell(fmt.Sprint(i), now)
	}
	if len(c) > identitiesKept+1 { // eve's count is kept
		t.Errorf("%d identities are kept", len(c))
	}
	if _, before := c.tell("eve", now); before != 1 {
		t.Errorf("%d before it were not told of, want 1", before)
	}
}

// The events of a session are as many as were told of: each that came went.
func TestAttachmentsInALoop(t *testing.T) {
	p := open(t)
	s := p.sh("one", "sleep 600")
	for range 2 * comingsAtOnce {
		m, err := s.Join(t.Context(), Visitor{Actor: tester, ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		m.Leave()
	}
	got := p.log(s.ID())
	// The loop above may last as long as one more takes, on a busy machine a few.
	came, went := len(got["client_attached"]), len(got["client_detached"])
	if came < comingsAtOnce || came > comingsAtOnce+10 || went != came {
		t.Errorf("%d came and %d went", came, went)
	}
}

// TestReportsAreBounded: an agent's reports are bounded over time, by number and by length.
func TestReportsAreBounded(t *testing.T) {
	var r reports
	now := time.Unix(1000, 0)
	if err := r.take(reportsAtOnce, now); err == nil || !strings.Contains(err.Error(), "wait a minute") {
		t.Errorf("a long one: %v", err)
	}
	n := 0
	for r.take(0, now) == nil {
		n++
	}
	if n != reportsAtOnce/reportCost {
		t.Errorf("%d at once", n)
	}
	if err := r.take(0, now.Add(time.Second)); err != nil {
		t.Errorf("a second later: %v", err)
	}
	if r.take(0, now.Add(time.Second)) == nil {
		t.Error("a second gives one")
	}
}
