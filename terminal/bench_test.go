package terminal

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// benchmarkInputs are the three kinds of output that DESIGN's speed goals name:
// plain log lines, text with a style change every few words, and what a TUI
// sends: cursor movements, styles, box drawing, short runs of text.
func benchmarkInputs() map[string][]byte {
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
	return map[string][]byte{"log": []byte(log.String()), "sgr": []byte(sgr.String()), "tui": []byte(tui.String())}
}

func BenchmarkWrite(b *testing.B) {
	inputs := benchmarkInputs()
	for _, name := range []string{"log", "sgr", "tui"} {
		for _, pass := range []bool{false, true} {
			title := name
			if pass {
				title += "-pass"
			}
			b.Run(title, func(b *testing.B) {
				input := inputs[name]
				term := New(Options{Cols: 200, Rows: 50, Scrollback: 10_000})
				term.SetPass(pass)
				b.SetBytes(int64(len(input)))
				b.ReportAllocs()
				for b.Loop() {
					for rest := input; len(rest) > 0; {
						n := min(len(rest), 16<<10) // a PTY read
						term.Write(rest[:n])
						term.TakePass()
						rest = rest[n:]
					}
				}
			})
		}
	}
}

// BenchmarkSnapshot is a snapshot after each small change, as at 60 Hz.
func BenchmarkSnapshot(b *testing.B) {
	term := New(Options{Cols: 200, Rows: 50, Scrollback: 10_000})
	term.Write(benchmarkInputs()["log"])
	b.ReportAllocs()
	for b.Loop() {
		term.Write([]byte("\x1b[25;10Hworking"))
		term.Snapshot(0)
	}
}

func BenchmarkStringWidth(b *testing.B) {
	const s = "✳ Claude Code – fixing the tests in main.go 你好 ⚠️ done"
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		StringWidth(s)
	}
}

// BenchmarkCheckpoint is a checkpoint, and a restore, of a full history.
func BenchmarkCheckpoint(b *testing.B) {
	term := New(Options{Cols: 200, Rows: 50, Scrollback: 10_000})
	term.Write(bytes.Repeat(benchmarkInputs()["sgr"], 3))
	point := term.Checkpoint()
	b.Run("take", func(b *testing.B) {
		b.SetBytes(int64(len(point)))
		for b.Loop() {
			term.Checkpoint()
		}
	})
	b.Run("restore", func(b *testing.B) {
		b.SetBytes(int64(len(point)))
		for b.Loop() {
			if _, err := Restore(Options{Scrollback: 10_000}, point); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkRepaint(b *testing.B) {
	term := New(Options{Cols: 200, Rows: 50, Scrollback: 10_000})
	term.Write(benchmarkInputs()["tui"])
	b.ReportAllocs()
	for b.Loop() {
		term.Repaint(RepaintOptions{})
	}
}
