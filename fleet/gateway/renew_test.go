package gateway

import (
	"testing"
	"time"
)

// TestQuestionsOfOneHost: a host that asks without end gets a bounded number of answers in a second, and the others
// get theirs.
func TestQuestionsOfOneHost(t *testing.T) {
	var q questions
	now := time.Now()
	for range renewalsASecond {
		if !q.take("box2", now) {
			t.Fatal("a question of an honest host isn't answered")
		}
	}
	if q.take("box2", now.Add(999*time.Millisecond)) {
		t.Error("one more is answered")
	}
	if !q.take("box3", now) || !q.take("box2", now.Add(time.Second)) {
		t.Error("another host, or the same a second later, has no answer")
	}
}
