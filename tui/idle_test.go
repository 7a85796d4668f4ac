package tui

import (
	"context"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// BenchmarkIdle measures 20 idle dashboards: processor time of all in 10 s, heap and goroutines of each.
// It runs once: go test -bench Idle -benchtime 1x ./tui
func BenchmarkIdle(b *testing.B) {
	const dashboards = 20
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
