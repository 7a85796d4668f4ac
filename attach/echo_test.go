package attach

import (
	"testing"
	"time"
)

// The time from the first key to the next output counts once, however the output reaches the client.
func TestEchoes(t *testing.T) {
	var took []time.Duration
	q := NewQueue()
	q.echoed = func(d time.Duration) { took = append(took, d) }
	q.Start()
	q.Push([]byte("no key"))
	if len(took) != 0 {
		t.Fatalf("output without a key is an echo: %v", took)
	}
	q.typed()
	first := q.keyAt.Load()
	q.typed() // the second key of a burst
	if q.keyAt.Load() != first {
		t.Error("a later key starts the time anew")
	}
	q.Push([]byte("echo"))
	q.Push([]byte("more"))
	if len(took) != 1 || took[0] <= 0 {
		t.Fatalf("%v", took)
	}
	q.typed()
	q.printed() // drawn from a picture
	if len(took) != 2 {
		t.Fatalf("%v", took)
	}
	q.keyAt.Store(int64(time.Since(epoch) - mostEcho - time.Second))
	q.Push([]byte("much later"))
	if len(took) != 2 || q.keyAt.Load() != 0 {
		t.Errorf("late output is an echo: %v", took)
	}
}

func BenchmarkCountEcho(b *testing.B) {
	for name, echoed := range map[string]func(time.Duration){"counted": func(time.Duration) {}, "not counted": nil} {
		b.Run(name, func(b *testing.B) {
			q := NewQueue()
			q.echoed, q.straight = echoed, func([]byte) bool { return true }
			q.Start()
			for b.Loop() {
				q.typed()
				q.Push([]byte("x"))
			}
		})
	}
}
