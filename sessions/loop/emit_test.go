package loop

import (
	"errors"
	"log/slog"
	"reflect"
	"testing"
	"time"

	"berth/sessions/events"
	"berth/sessions/hold"
)

// TestEmitter: a control record has its events once, also for the next server, and events that
// wait are written before a checkpoint, after the keystrokes so far.
func TestEmitter(t *testing.T) {
	log, err := events.Open(t.TempDir(), events.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	now, changed, typed := time.Now(), 0, false
	problem := &Problem{Log: slog.New(slog.DiscardHandler), Changed: func() { changed++ }}
	var e *Emitter
	server := func() *Emitter {
		e = NewEmitter(EmitterEnv{
			Log: log, ID: "s1", Name: func() string { return "one" }, Now: func() time.Time { return now },
			Gather: func() {
				if typed {
					typed = false
					e.Note("typed", nil)
				}
			},
			Changed: func() { changed++ },
		}, problem)
		return e
	}
	server().Event(hold.Record{N: 3}, "a", nil)
	e.Event(hold.Record{N: 3}, "again", nil)
	e.Event(hold.Record{N: 2}, "older", nil)
	e.Event(hold.Record{}, "none", nil)
	if seq := e.Note("noted", nil); seq != 3 || e.Next() != 4 || changed != 3 {
		t.Errorf("event %d, then %d; %d changes", seq, e.Next(), changed)
	}
	if server(); !e.Written(3) || e.Written(4) {
		t.Error("the next server doesn't know what was written")
	}
	e.Event(hold.Record{N: 3}, "once more", nil)
	for n := range PacedAtOnce + 2 {
		e.Paced(uint64(n+4), "paced", "verb", By{Identity: "x"}, counted{n: 1})
	}
	e.Paced(4, "paced", "verb", By{Identity: "x"}, counted{n: 1}) // it has its event
	if at := e.Due(); !at.Equal(now.Add(PacedEvery)) {
		t.Errorf("the next is due at %s", at)
	}
	typed = true
	e.Flush()
	if !e.Due().IsZero() {
		t.Error("an event waits after a flush")
	}
	var kinds []string
	last := ""
	for r := log.Follow(0); r.Position() < log.Head(); {
		line, err := r.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if line.Session != "one" || line.ID != "s1" {
			t.Errorf("%s", line.Raw)
		}
		if line.Type != "paced" || last != "paced" {
			kinds = append(kinds, line.Type)
		}
		last = line.Type
	}
	if want := []string{"a", "none", "noted", "paced", "typed", "paced"}; !reflect.DeepEqual(kinds, want) {
		t.Errorf("%q, want %q", kinds, want)
	}
	if e.Note("", nil); problem.Text() == "" {
		t.Error("an event that cannot be written is not reported as a problem")
	}
	problem.Trouble("do more", errors.New("no"))
	if e.Note("works", nil); problem.Text() != "could not do more: no" {
		t.Errorf("after another problem: %q", problem.Text())
	}
	if problem.Cured("do more"); problem.Text() != "" {
		t.Error("it stays a problem")
	}
}
