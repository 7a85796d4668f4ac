package terminal

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// heap is what f's results take once all else is collected.
func heap(f func() any) (size uint64, kept any) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	kept = f()
	runtime.GC()
	runtime.ReadMemStats(&after)
	if after.HeapAlloc < before.HeapAlloc {
		return 0, kept
	}
	return after.HeapAlloc - before.HeapAlloc, kept
}

func TestMemoryOfFreshTerminals(t *testing.T) {
	withoutRaceDetector(t)
	const n = 100
	size, kept := heap(func() any {
		terminals := make([]*Terminal, n)
		for i := range terminals {
			terminals[i] = New(Options{Cols: 200, Rows: 50, Scrollback: 10_000})
			terminals[i].Write([]byte("$ "))
		}
		return terminals
	})
	t.Logf("%d bytes each", size/n)
	if size/n > 64<<10 {
		t.Errorf("a fresh terminal of 200x50 takes %d bytes", size/n)
	}
	runtime.KeepAlive(kept)
}

func TestMemoryOfScrollback(t *testing.T) {
	withoutRaceDetector(t)
	const lines = 10_000
	for name, line := range map[string]string{
		"full":   strings.Repeat("x", 200),
		"styled": strings.Repeat("\x1b[38;2;1;2;3mabc\x1b[0m de ", 28),
		"log":    "2026-11-20T10:00:00Z INFO request done in 12 ms",
	} {
		size, kept := heap(func() any {
			term := New(Options{Cols: 200, Rows: 50, Scrollback: lines})
			for range lines + 50 {
				term.Write([]byte(line + "\r\n"))
			}
			if term.history.len() != lines {
				t.Fatalf("%d lines of history", term.history.len())
			}
			return term
		})
		t.Logf("%s: %d bytes a line", name, size/lines)
		if size/lines > 4<<10 {
			t.Errorf("%s: %d bytes a line of scrollback at 200 columns", name, size/lines)
		}
		runtime.KeepAlive(kept)
	}
}

// TestMemoryStaysBounded writes what tries to make the terminal keep more and more.
func TestMemoryStaysBounded(t *testing.T) {
	withoutRaceDetector(t)
	var overwritten bytes.Buffer
	for i := range 20_000 {
		fmt.Fprintf(&overwritten, "\x1b[H\x1b]8;;https://example.com/%d\x07\x1b[58:2::%d:%d:1mx\u0301%s", i, i%256, i/256, "\x1b[3Ge\u0301\u0302")
	}
	for name, input := range map[string][]byte{
		"links and clusters":        overwritten.Bytes(),
		"an endless title":          append([]byte("\x1b]0;"), bytes.Repeat([]byte("a"), 4<<20)...),
		"an endless DCS":            append([]byte("\x1bPq"), bytes.Repeat([]byte("a"), 4<<20)...),
		"an endless CSI":            append([]byte("\x1b["), bytes.Repeat([]byte("1;"), 2<<20)...),
		"marks on one cell":         append([]byte("a"), bytes.Repeat([]byte("\u0301"), 1<<20)...),
		"pushed titles":             bytes.Repeat([]byte("\x1b]0;"+strings.Repeat("t", 200)+"\x07\x1b[22t"), 20_000),
		"keyboard flags":            bytes.Repeat([]byte("\x1b[>1u"), 500_000),
		"tab stops":                 bytes.Repeat([]byte("\x1bH\x1b[C"), 100_000),
		"a stream without a reader": bytes.Repeat([]byte("hello \x1b[31mworld\x1b[0m\r\n"), 500_000),
	} {
		size, kept := heap(func() any {
			term := New(Options{Cols: 200, Rows: 50, Scrollback: 100})
			term.SetPass(true)
			term.Write(input)
			if term.Panics() > 0 {
				t.Errorf("%s: panic", name)
			}
			return term
		})
		if size > maxPass+2<<20 {
			t.Errorf("%s: %d bytes kept", name, size)
		}
		runtime.KeepAlive(kept)
	}
}

func withoutRaceDetector(t *testing.T) {
	t.Helper()
	if raceDetector {
		t.Skip("SKIPPED: the race detector has memory of its own and slows down what this writes")
	}
}
