package gates

import (
	"strings"
	"testing"
	"time"
)

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
