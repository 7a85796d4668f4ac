package tui

import (
	"context"
	"runtime"
	"syscall"
	"testing"
	"time"
)

const dashboards = 100

// TestIdle: 100 idle dashboards write nothing, and use less than a hundredth of a processor together.
func TestIdle(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var screens []*glass
	var all []<-chan error
	for range dashboards {
		_, _, g, ended := play(t, ctx, false)
		g.shows(t, "alpha")
		screens, all = append(screens, g), append(all, ended)
	}
	written := func() (n int64) {
		for _, g := range screens {
			n += g.took.Load()
		}
		return n
	}
	// The first picture is followed by the terminal's replies, and the card counts its first 0.3 s.
	for before := int64(-1); before != written(); time.Sleep(time.Second) {
		before = written()
	}
	const watched = 3 * time.Second
	// Each dashboard draws its ages at a full minute.
	if left := time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)); left < watched+2*time.Second {
		time.Sleep(left + 2*time.Second)
	}
	runtime.GC()
	from, before := processor(t), written()
	time.Sleep(watched)
	if used := processor(t) - from; used > watched/100 {
		t.Errorf("they used %v of processor time in %v", used, watched)
	}
	if n := written() - before; n != 0 {
		t.Errorf("they wrote %d times", n)
	}
	cancel()
	for _, ended := range all {
		_ = end(t, ended)
	}
}

// BenchmarkIdle measures 100 idle dashboards: processor time of all in 10 s, heap and goroutines of each.
// It runs once: go test -bench Idle -benchtime 1x ./tui
func BenchmarkIdle(b *testing.B) {
	for range b.N {
		before := heap()
		goroutines := runtime.NumGoroutine()
		ctx, cancel := context.WithCancel(context.Background())
		var all []<-chan error
		for range dashboards {
			_, _, g, ended := play(b, ctx, false)
			g.shows(b, "alpha")
			all = append(all, ended)
		}
		time.Sleep(time.Second) // let the work after the first picture end
		b.ReportMetric(float64(heap()-before)/dashboards, "bytes/dashboard")
		b.ReportMetric(float64(runtime.NumGoroutine()-goroutines)/dashboards, "goroutines/dashboard")
		from := processor(b)
		time.Sleep(10 * time.Second)
		b.ReportMetric(float64((processor(b)-from).Microseconds())/1000, "cpu-ms/10s")
		cancel()
		for _, ended := range all {
			_ = end(b, ended)
		}
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func processor(b testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
