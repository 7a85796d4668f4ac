package terminal

import (
	"syscall"
	"testing"
	"time"
)

// cpuTime is what this process has used, its collector included.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestSpeed asserts the goals in MB per CPU-second at 200x50, with and without
// the stream for clients. They are a quarter of what is measured on an idle
// machine, so that a busy one passes too.
func TestSpeed(t *testing.T) {
	withoutRaceDetector(t)
	inputs := benchmarkInputs()
	for name, goal := range map[string]float64{"log": 60, "sgr": 100, "tui": 60} {
		for _, pass := range []bool{false, true} {
			term := New(Options{Cols: 200, Rows: 50, Scrollback: 10_000})
			term.SetPass(pass)
			input, written := inputs[name], 0
			start := cpuTime(t)
			for range 16 {
				for rest := input; len(rest) > 0; {
					n := min(len(rest), 16<<10)
					term.Write(rest[:n])
					term.TakePass()
					rest = rest[n:]
				}
				written += len(input)
			}
			rate := float64(written) / 1e6 / (cpuTime(t) - start).Seconds()
			t.Logf("%s, stream for clients %v: %.0f MB per CPU-second", name, pass, rate)
			if rate < goal {
				t.Errorf("%s, stream for clients %v: %.0f MB per CPU-second, want %.0f", name, pass, rate, goal)
			}
		}
	}
}
