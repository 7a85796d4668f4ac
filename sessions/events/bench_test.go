package events

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// sample is a state change as sessions make them, about 330 bytes a line.
var sample = Event{
	Type: "state_change", Session: "alpha", ID: "01JCZ7Q2M3N4P5R6S7T8V9W0XY", Cause: 1,
	Data: struct {
		Previous string `json:"prev"`
		Next     string `json:"next"`
		Tier     int    `json:"tier"`
		Cause    string `json:"cause"`
		Evidence string `json:"evidence"`
	}{"working", "prompt", 1, "hook:PermissionRequest", strings.Repeat("e", 100)},
}

func BenchmarkAppend(b *testing.B) {
	l := open(b, b.TempDir(), Options{})
	b.ReportAllocs()
	for b.Loop() {
		add(b, l, sample)
	}
}

// BenchmarkFanOut is an event appended and read by all of its readers.
func BenchmarkFanOut(b *testing.B) {
	for _, readers := range []int{1, 100, 1000} {
		b.Run(fmt.Sprint(readers), func(b *testing.B) {
			l := open(b, b.TempDir(), Options{})
			var group sync.WaitGroup
			for range readers {
				group.Go(func() {
					r := l.Follow(0)
					for range b.N {
						if _, err := r.Next(context.Background()); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			b.ResetTimer()
			for range b.N {
				add(b, l, sample)
			}
			group.Wait()
			b.ReportMetric(float64(readers)*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}

// BenchmarkCatchUp reads a log from its beginning, out of the files.
func BenchmarkCatchUp(b *testing.B) {
	l := open(b, b.TempDir(), Options{})
	for range 50_000 {
		add(b, l, sample)
	}
	bytes := l.Stats().Bytes
	b.SetBytes(bytes)
	for b.Loop() {
		r := l.Follow(0)
		for r.Position() < l.Head() {
			if _, err := r.Next(context.Background()); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkOpen opens a log of 32 MiB whose newest segment is nearly full.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	l := open(b, dir, Options{})
	for l.Stats().Bytes < 32<<20-100<<10 {
		add(b, l, sample)
	}
	closeLog(b, l)
	for b.Loop() {
		l, err := Open(dir, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
