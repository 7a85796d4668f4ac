package audit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"testing"
)

// TestReader reads a log that begins new files and removes old ones meanwhile, once from its start and once
// from a line in the middle.
func TestReader(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, func(o *Options) { o.Segment, o.Total = 2000, 1<<20 })
	defer l.close()
	early := l.ReaderAfter(0)
	defer early.Close()
	next := uint64(1)
	drain := func(r *Reader, next uint64) uint64 {
		t.Helper()
		for {
			n, line, err := r.Next()
			if errors.Is(err, io.EOF) {
				return next
			}
			if err != nil {
				t.Fatal(err)
			}
			if e, err := parse(line); err != nil || e.N != n || n != next {
				t.Fatalf("line %d, want %d: %s (%v)", n, next, line, err)
			}
			next++
		}
	}
	for i := range 100 {
		if _, err := l.Append(Entry{Kind: KindVerb, Verb: fmt.Sprint("verb", i), Admin: true}); err != nil {
			t.Fatal(err)
		}
		select {
		case <-l.Grew():
		default:
			t.Fatal("no ring for a line")
		}
		next = drain(early, next)
		if next != l.Head().N+1 {
			t.Fatalf("after line %d it has read %d lines", l.Head().N, next-1)
		}
	}
	list, err := segments(dir)
	if err != nil || len(list) < 4 {
		t.Fatalf("files: %d, %v", len(list), err)
	}
	middle := l.ReaderAfter(20)
	defer middle.Close()
	if end := drain(middle, 21); end != l.Head().N+1 {
		t.Errorf("from the middle it has read up to %d", end-1)
	}
	// Of files that are gone it goes on with the first that there is.
	late := l.ReaderAfter(0)
	defer late.Close()
	if _, _, err := late.Next(); err != nil {
		t.Fatal(err)
	}
	for _, s := range list[:2] {
		if err := os.Remove(s.path); err != nil {
			t.Fatal(err)
		}
	}
	fresh := l.ReaderAfter(3)
	defer fresh.Close()
	if n, _, err := fresh.Next(); err != nil || n != list[2].first {
		t.Errorf("the first line is %d, want %d: %v", n, list[2].first, err)
	}
	for want := uint64(2); want < list[1].first; want++ {
		if n, _, err := late.Next(); err != nil || n != want {
			t.Fatalf("of the open file that was removed it reads line %d, want %d: %v", n, want, err)
		}
	}
	if n, _, err := late.Next(); err != nil || n != list[2].first {
		t.Errorf("after it comes line %d, want %d: %v", n, list[2].first, err)
	}
}
