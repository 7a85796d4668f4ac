package attach

import (
	"testing"
)

// TestShareOfQueues: what is queued for all terminals of one caller is bounded, and what is taken, dropped or
// stopped makes room. Another caller's terminals have room of their own.
func TestShareOfQueues(t *testing.T) {
	var shares Shares
	open := func(who string) (*Queue, func()) {
		q := NewQueue()
		share, leave := shares.Join(who)
		q.share = share
		q.Start()
		return q, leave
	}
	full := make([]byte, QueueLimit)
	var queues []*Queue
	var leaves []func()
	for range ShareLimit / QueueLimit {
		q, leave := open("viewer")
		q.Push(full)
		queues, leaves = append(queues, q), append(leaves, leave)
	}
	more, leave := open("viewer")
	leaves = append(leaves, leave)
	more.Push([]byte("x"))
	if p, lagged := more.Take(); len(p) > 0 || !lagged {
		t.Errorf("beyond the share: %d bytes, lagged %v", len(p), lagged)
	}
	other, leave := open("operator")
	leaves = append(leaves, leave)
	other.Push([]byte("x"))
	if p, lagged := other.Take(); len(p) != 1 || lagged {
		t.Errorf("another caller: %d bytes, lagged %v", len(p), lagged)
	}
	for i, room := range []func(*Queue){
		func(q *Queue) { q.Take() },
		func(q *Queue) { q.Push([]byte("x")) }, // it overflows
		(*Queue).Lag,
		(*Queue).Stop,
		(*Queue).Start,
	} {
		room(queues[i])
		more.Start()
		more.Push(full)
		if p, lagged := more.Take(); len(p) != len(full) || lagged {
			t.Errorf("room %d: %d bytes, lagged %v", i, len(p), lagged)
		}
		queues[i].Start()
		queues[i].Push(full)
	}
	for _, q := range append(queues, more, other) {
		q.Stop()
	}
	if n := queues[0].share.bytes; n != 0 {
		t.Errorf("%d bytes are left", n)
	}
	for _, leave := range leaves {
		leave()
	}
	if len(shares.of) != 0 {
		t.Errorf("%d callers are kept", len(shares.of))
	}
}
