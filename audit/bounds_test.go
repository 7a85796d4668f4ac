package audit

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"
)

// Lines that are older than they may be go with their file, whether others are
// added or not; a line says so, and the log verifies.
func TestAge(t *testing.T) {
	dir, now := t.TempDir(), noon
	b := open(t, dir, func(o *Options) { o.Age, o.Now = 8*24*time.Hour, func() time.Time { return now } })
	for range 12 {
		b.add(3)
		now = now.Add(24 * time.Hour)
	}
	r := b.verify()
	if r.Problem != nil || r.First == 1 || len(files(t, dir)) < 8 || len(files(t, dir)) > 10 {
		t.Errorf("%+v with %d files", r, len(files(t, dir)))
	}
	b.close()
	now = now.Add(30 * 24 * time.Hour)
	b = open(t, dir, func(o *Options) { o.Age, o.Now = 8*24*time.Hour, func() time.Time { return now } })
	b.add(1) // starts a file; all earlier files are too old
	b.add(1)
	b.ageOut()
	b.close()
	if r := b.verify(); r.Problem != nil || len(files(t, dir)) > 2 {
		t.Errorf("%+v with %d files", r, len(files(t, dir)))
	}
}

// Verify ends with its caller.
func TestVerifyEnds(t *testing.T) {
	b := open(t, t.TempDir(), nil)
	b.add(5)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Verify(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
	b.close()
}

// While one line can't be written to the disk, other callers wait for a bounded time, and callers that
// read the log's health don't wait. All is well when the disk is back.
func TestNobodyHangs(t *testing.T) {
	b := open(t, t.TempDir(), nil)
	b.mu.Lock() // as in a write that does not return
	began := time.Now()
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			if _, err := b.Append(Entry{Kind: KindVerb, Verb: "kill"}); !errors.Is(err, ErrBusy) {
				t.Errorf("added: %v", err)
			}
		})
	}
	all.Go(func() {
		if err := b.Refuse(Entry{Verb: "kill"}); !errors.Is(err, ErrBusy) {
			t.Errorf("refused: %v", err)
		}
	})
	all.Wait()
	if took := time.Since(began); took > 3*patience {
		t.Errorf("they waited %s", took)
	}
	if !b.Failing() {
		t.Error("it does not say that it fails")
	}
	b.mu.Unlock()
	b.add(1)
	if b.Failing() {
		t.Error("it still says that it fails")
	}
	b.close()
	if r := b.verify(); r.Problem != nil || strings.Contains(b.said.String(), "level=ERROR") {
		t.Errorf("%+v\n%s", r, b.said.String())
	}
}
