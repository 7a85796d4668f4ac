package terminal

import (
	"slices"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
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

// perSecond is how many MB of these inputs a function takes in a second of processor time.
func perSecond(t *testing.T, input []byte, take func([]byte)) float64 {
	t.Helper()
	const times = 16
	start := cpuTime(t)
	for range times {
		for part := range slices.Chunk(input, 16<<10) {
			take(part)
		}
	}
	return float64(times*len(input)) / 1e6 / (cpuTime(t) - start).Seconds()
}

// TestSpeed compares the emulator at 200x50, with and without the stream for clients, with a loop that only decodes the
// characters, so that a slow machine passes too. It may take four times as long, against that loop, as was measured.
func TestSpeed(t *testing.T) {
	withoutRaceDetector(t)
	inputs := benchmarkInputs()
	for name, most := range map[string]float64{"log": 20, "sgr": 28, "tui": 22} {
		sum := 0
		decodes := perSecond(t, inputs[name], func(part []byte) {
			for len(part) > 0 {
				r, n := utf8.DecodeRune(part)
				sum += int(r)
				part = part[n:]
			}
		})
		if sum == 0 {
			t.Fatal("nothing was decoded")
		}
		for _, pass := range []bool{false, true} {
			term := New(Options{Cols: 200, Rows: 50, Scrollback: 10_000})
			term.SetPass(pass)
			rate := perSecond(t, inputs[name], func(part []byte) {
				term.Write(part)
				term.TakePass()
			})
			t.Logf("%s, stream for clients %v: %.0f MB per CPU-second, the loop %.0f: %.1f times as long", name, pass, rate, decodes, decodes/rate)
			if decodes/rate > most {
				t.Errorf("%s, stream for clients %v: it takes %.1f times as long as the loop, at most %.0f", name, pass, decodes/rate, most)
			}
		}
	}
}
