package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"berth/terminal"
)

// streams are the three kinds of output that the goals name: log lines, text with a style change every
// few words, and the synchronized updates of a TUI. The benchmarks of package terminal have the same.
func streams() map[string][]byte {
	random := rand.New(rand.NewPCG(7, 7))
	words := strings.Fields("the agent reads file and writes a patch for server session error in line of main.go with tests passing now")
	sentence := func(n int) string {
		var b strings.Builder
		for b.Len() < n {
			b.WriteString(words[random.IntN(len(words))])
			b.WriteByte(' ')
		}
		return b.String()[:n]
	}
	var log, sgr, tui strings.Builder
	for i := 0; log.Len() < 1<<20; i++ {
		fmt.Fprintf(&log, "2026-11-20T10:%02d:%02d.%03dZ INFO  request=%d %s\r\n", i/60%60, i%60, i%1000, i, sentence(40+random.IntN(80)))
	}
	for sgr.Len() < 1<<20 {
		for range 8 {
			fmt.Fprintf(&sgr, "\x1b[38;5;%dm%s\x1b[1;3%dm%s\x1b[0m", random.IntN(256), sentence(14), random.IntN(8), sentence(9))
		}
		sgr.WriteString("\r\n")
	}
	tui.WriteString("\x1b[?1049h")
	for tui.Len() < 1<<20 {
		tui.WriteString("\x1b[?2026h\x1b[?25l")
		for range 30 {
			fmt.Fprintf(&tui, "\x1b[%d;%dH\x1b[38;2;%d;%d;200m│ %s\x1b[39m %s \x1b[7m%s\x1b[27m\x1b[K", 1+random.IntN(50), 1+random.IntN(80),
				random.IntN(256), random.IntN(256), sentence(12), sentence(20), sentence(5))
		}
		fmt.Fprintf(&tui, "\x1b[50;1H\x1b[2K╭%s╮ ✳ ⠂ 你好\x1b[?25h\x1b[?2026l", strings.Repeat("─", 40))
	}
	return map[string][]byte{"log": []byte(log.String()), "SGR": []byte(sgr.String()), "TUI": []byte(tui.String())}
}

// streamRepeats is how often the megabyte of a stream is fed.
const streamRepeats = 24

func emulatorRow(b *bench) ([]result, error) {
	mux, err := b.tmux()
	if err != nil {
		return nil, err
	}
	inputs := streams()
	var out []result
	for _, s := range []struct {
		name string
		goal float64
	}{{"log", 60}, {"SGR", 100}, {"TUI", 60}} {
		var ours, passing, theirs []float64
		for range b.times(3) {
			for _, pass := range []bool{false, true} {
				rate, err := emulate(inputs[s.name], pass)
				if err != nil {
					return out, err
				}
				if pass {
					passing = append(passing, rate)
				} else {
					ours = append(ours, rate)
				}
			}
			rate, err := mux.emulate(inputs[s.name])
			if err != nil {
				return out, err
			}
			theirs = append(theirs, rate)
		}
		rate, with := median(ours), median(passing)
		out = append(out, result{"emulator, " + s.name + ", MB per CPU-second", fmt.Sprintf("%.0f; with the stream for clients %.0f", rate, with),
			fmt.Sprintf("tmux, reading the PTY included: %.0f", median(theirs)), fmt.Sprintf("%.2f", rate/median(theirs)),
			fmt.Sprintf("≥ %.0f", s.goal), verdictOf(min(rate, with) >= s.goal)})
	}
	return out, nil
}

// emulate is MB per second of this process's CPU time, collector included.
func emulate(input []byte, pass bool) (float64, error) {
	t := terminal.New(terminal.Options{Cols: 200, Rows: 50, Scrollback: 2000})
	t.SetPass(pass)
	before, err := ownCPU()
	if err != nil {
		return 0, err
	}
	for range streamRepeats {
		for rest := input; len(rest) > 0; {
			n := min(len(rest), 64<<10) // as much as a session's loop reads at once
			t.Write(rest[:n])
			t.TakePass()
			rest = rest[n:]
		}
	}
	after, err := ownCPU()
	return float64(streamRepeats*len(input)) / 1e6 / (after - before).Seconds(), err
}

// emulate is MB per second of the tmux server's CPU time, with no client.
func (t *tmuxServer) emulate(input []byte) (float64, error) {
	file, done := filepath.Join(t.bench.dir, "stream"), filepath.Join(t.bench.dir, "stream-done")
	if err := os.WriteFile(file, input, 0o600); err != nil {
		return 0, err
	}
	defer os.Remove(done)
	before, err := cpuOf(t.pid)
	if err != nil {
		return 0, err
	}
	script := fmt.Sprintf("for i in $(seq %d); do cat %s; done; printf x > %s; exec cat", streamRepeats, file, done)
	if _, err := t.run("new-session", "-d", "-x", "200", "-y", "50", "-s", "stream", script); err != nil {
		return 0, err
	}
	if err := t.bench.poll("tmux reads the stream", func() bool { _, err := os.Stat(done); return err == nil }); err != nil {
		return 0, err
	}
	// tmux still reads the rest from the PTY. It has finished when its CPU time no longer grows.
	last := time.Duration(-1)
	err = t.bench.poll("tmux is through", func() bool {
		now, err := cpuOf(t.pid)
		still := err != nil || now == last
		last = now
		return still
	})
	if err != nil {
		return 0, err
	}
	_, err = t.run("kill-session", "-t", "stream")
	return float64(streamRepeats*len(input)) / 1e6 / (last - before).Seconds(), err
}
