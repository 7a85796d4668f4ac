package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	"berth/detect"
	"berth/sessions/events"
	"berth/sessions/hold"
	"berth/sessions/screen"
	"berth/terminal"
)

// engine is a kernel with two parts, and an observer.
type engine struct {
	*Kernel
	t       *testing.T
	dir     string
	events  *events.Log
	now     time.Time
	running bool
	signal  chan struct{}
	log     []string // what the kernel did, in order
}

var errDown = errors.New("down")

func newEngine(t *testing.T, dir string, log *events.Log) *engine {
	t.Helper()
	e := &engine{t: t, dir: dir, events: log, now: time.Unix(1e9, 0), running: true, signal: make(chan struct{}, 1)}
	note := func(what string) func() { return func() { e.note("%s", what) } }
	e.Kernel = NewKernel(KernelEnv{
		ID: "s1", Dir: dir, Name: func() string { return "one" }, Log: slog.New(slog.DiscardHandler), Events: log,
		Now: func() time.Time { return e.now },
		Screen: screen.Env{
			Options: func() terminal.Options {
				return terminal.Options{Cols: 20, Rows: 4, Now: func() time.Time { return e.now }}
			},
			Answer: func([]byte, int64) bool { return false }, Read: func() bool { return false },
			Sized: func(int, int) {}, Resizing: func() {}, Resized: func() {}, Needed: func() bool { return true },
		},
		Begin: note("begin"), Close: note("close"), Stopped: func() error { return errDown },
		Wake: note("wake"), Sleep: note("sleep"), Publish: func(visible bool) { e.note("publish %v", visible) },
		PassOn: func() {}, Gather: note("gather"), Applied: func(r hold.Record) { e.note("applied %d", r.N) },
		Running: func() bool { return e.running },
	})
	e.Add(Parts{{Name: "first", Part: &part{e: e, name: "first"}}, {Name: "second", Part: &part{e: e, name: "second"}}}, observer{e},
		[2]Signal{{C: e.signal, Take: note("signal")}, {}})
	return e
}

func newLog(t *testing.T) *events.Log {
	t.Helper()
	log, err := events.Open(t.TempDir(), events.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	return log
}

func (e *engine) note(format string, args ...any) {
	e.log = append(e.log, fmt.Sprintf(format, args...))
}

func (e *engine) logged(want ...string) {
	e.t.Helper()
	if !reflect.DeepEqual(e.log, want) {
		e.t.Errorf("this happened: %q\nwant %q", e.log, want)
	}
	e.log = nil
}

// observer is the observer of an engine.
type observer struct{ *engine }

func (o observer) Output(data []byte, offset int64) { o.note("output %s at %d", data, offset) }
func (o observer) Printed()                         { o.note("printed") }
func (o observer) Title(title string)               { o.note("title %s", title) }
func (o observer) Notice(osc int, payload string)   { o.note("notice %d", osc) }
func (o observer) Reapply(results []detect.Result)  { o.note("reapply %d", len(results)) }
func (o observer) Emit(results []detect.Result, first ...events.Event) {
	words := []string{fmt.Sprintf("emit %d after", len(results))}
	for i := range first {
		words = append(words, fmt.Sprintf("%s of %d", first[i].Type, first[i].Cause))
	}
	o.note("%s", strings.Join(words, " "))
	o.Kernel.Emit.Append(first)
}

// part has one event and one result for each record.
type part struct {
	e     *engine
	name  string
	saved string
}

func (p *part) Begin(time.Time)    {}
func (p *part) End()               {}
func (p *part) Recall(events.Line) {}
func (p *part) Record(r hold.Record) (Outcome, error) {
	if r.Kind == "bad" && p.name == "second" {
		return Outcome{}, errors.New("no JSON")
	}
	return Outcome{Events: []events.Event{{Type: p.name, Cause: r.N}}, Results: []detect.Result{{}}}, nil
}
func (p *part) Tick(now time.Time) (next time.Time) { return next }
func (p *part) Save() (json.RawMessage, error)      { return json.Marshal(p.name) }
func (p *part) Restore(data json.RawMessage, _ bool) error {
	return json.Unmarshal(data, &p.saved)
}

// TestRecordsAreAppliedInOneStep: each record follows the output before it, all events of its parts are
// appended together, and the next server, which reads it again, appends none.
func TestRecordsAreAppliedInOneStep(t *testing.T) {
	log := newLog(t)
	dir := writeJournal(t, 0, "aabbcc", 2, 6)
	e := newEngine(t, dir, log)
	e.Load(Checkpoint{})
	e.Journal.Replay()
	e.logged("output aa at 0", "printed", "gather", "emit 2 after first of 1 second of 1", "applied 1",
		"output bbcc at 2", "printed", "gather", "emit 2 after first of 2 second of 2", "applied 2")
	if e.Applied() != 2 || log.Head() != 4 {
		t.Errorf("record %d is applied, and there are %d events", e.Applied(), log.Head())
	}

	next := newEngine(t, dir, log)
	next.Load(Checkpoint{})
	next.Journal.Replay()
	next.logged("output aa at 0", "printed", "gather", "reapply 2", "applied 1", "output bbcc at 2", "printed", "gather", "reapply 2", "applied 2")

	// A record that a part cannot read makes no event at all.
	next.Record(hold.Record{N: 3, Kind: "bad"})
	if next.logged("applied 3"); next.Problem.Text() != "could not read control record 3 (bad): no JSON" || log.Head() != 4 {
		t.Errorf("problem %q, %d events", next.Problem.Text(), log.Head())
	}

	// Lost output makes an event.
	next.Record(hold.Record{N: 4, Kind: hold.KindLoss, Data: []byte(`{"from":3,"to":10}`)})
	next.Record(hold.Record{N: 4, Kind: hold.KindLoss, Data: []byte(`{"from":3,"to":10}`)})
	if next.Losses() != 14 || log.Head() != 5 {
		t.Errorf("%d bytes lost, %d events", next.Losses(), log.Head())
	}
}

// TestCheckpoint: it is written after enough time or output, or when a part asks for it, and while the
// program runs. The next server continues from it.
func TestCheckpoint(t *testing.T) {
	e := newEngine(t, writeJournal(t, 0, "aabbcc", 2, 6), newLog(t))
	saves := func() bool {
		before := e.saving.at
		e.now = e.now.Add(time.Second)
		e.saveIfDue(e.now)
		return e.saving.at != before
	}
	if saves() {
		t.Error("a session without an emulator is saved")
	}
	e.Load(Checkpoint{})
	if saves() || !e.saveDue().IsZero() {
		t.Error("nothing has changed, and it is saved")
	}
	e.Journal.Replay()
	e.Screen.Write([]byte("\x1b]0;a title\x07"))
	if due := e.saveDue(); saves() || !due.Equal(e.saving.at.Add(checkpointTime)) {
		t.Errorf("saved too soon, or due at %s", due)
	}
	if e.now = e.saveDue(); !saves() || !e.saveDue().IsZero() {
		t.Error("not saved in time")
	}
	for range PacedAtOnce + 1 {
		e.Emit.Paced(0, "paced", "verb", By{}, counted{n: 1})
	}
	if e.SaveSoon(); !saves() || saves() {
		t.Error("a part that asked for it had none, or two")
	}
	if !e.Emit.Due().IsZero() {
		t.Error("an event that was held back is missing from the log, and no server makes it again")
	}
	e.Screen.Write(make([]byte, checkpointSize))
	e.running = false
	if saves() || !e.saveDue().IsZero() {
		t.Error("an ended session is saved by time")
	}
	if e.running = true; !saves() {
		t.Error("not saved after much output")
	}

	from, err := LoadCheckpoint(e.dir)
	if err != nil {
		t.Fatal(err)
	}
	next := newEngine(t, e.dir, e.events)
	next.Recall(from)
	next.Parts.Restore(from, func(what string, err error) { t.Errorf("%s: %v", what, err) })
	if title, offset := next.Screen.Recalled(); title != "a title" || offset != e.Screen.Offset() || next.Applied() != 2 {
		t.Errorf("%q at %d, record %d", title, offset, next.Applied())
	}
	if saved := next.Parts[1].Part.(*part).saved; saved != "second" {
		t.Errorf("the second part got %q", saved)
	}
	// A picture needs the emulator alone: no event, and no part.
	if text := next.Picture().Snapshot(0).Text(); !strings.Contains(strings.Join(text, ""), "aabbcc") || next.Applied() != 2 {
		t.Errorf("screen %q, record %d", text, next.Applied())
	}
	next.logged()
}

// TestLoop: calls and signals run on the loop, the status is published after each, and what may happen
// beside the loop happens between Sleep and Wake alone.
func TestLoop(t *testing.T) {
	e := newEngine(t, writeJournal(t, 0, ""), newLog(t))
	e.Load(Checkpoint{})
	ctx, cancel := context.WithCancel(t.Context())
	go e.Run(ctx)
	do := func(fn func()) {
		t.Helper()
		if err := e.Do(t.Context(), fn); err != nil {
			t.Fatal(err)
		}
	}
	do(func() {
		if last := e.log[len(e.log)-2:]; e.log[0] != "begin" || e.log[1] != "publish true" || !reflect.DeepEqual(last, []string{"sleep", "wake"}) {
			t.Errorf("%q", e.log)
		}
		e.log = nil
		e.Moved()
	})
	do(func() {
		e.logged("publish false", "wake", "sleep", "wake")
		e.Screen.Write([]byte("\x1b[?2026h"))
	})
	look := make(chan error, 1)
	seen := false
	go func() { look <- e.Settled(t.Context(), func() { seen = true }) }()
	for waits := false; !waits; {
		do(func() { waits = e.Screen.Awaited() })
	}
	do(func() {
		if seen {
			t.Error("a caller saw a half drawn picture")
		}
		e.Screen.Write([]byte("\x1b[?2026l"))
	})
	if err := <-look; err != nil || !seen {
		t.Errorf("%v, %v", seen, err)
	}
	e.signal <- struct{}{}
	for taken := false; !taken; {
		do(func() { taken = strings.Contains(strings.Join(e.log, " "), "signal") })
	}
	do(func() { e.Screen.Write([]byte("\x1b[?2026h")) })
	go func() { look <- e.Settled(t.Context(), func() {}) }()
	for waits := false; !waits; {
		do(func() { waits = e.Screen.Awaited() })
	}
	do(func() { e.log = nil })
	cancel()
	if err := <-look; err != nil {
		t.Errorf("a caller at the loop's end: %v", err)
	}
	<-e.Over()
	if last := e.log[len(e.log)-1]; last != "close" {
		t.Errorf("%q", e.log)
	}
	if _, err := LoadCheckpoint(e.dir); err != nil {
		t.Errorf("its last checkpoint: %v", err)
	}
	if err := e.Do(t.Context(), func() {}); !errors.Is(err, errDown) {
		t.Errorf("after its end: %v", err)
	}
}

// TestStop: a loop that is stopped writes no checkpoint any more.
func TestStop(t *testing.T) {
	e := newEngine(t, t.TempDir(), newLog(t))
	e.Load(Checkpoint{})
	go e.Run(t.Context())
	if err := e.Do(t.Context(), e.Stop); err != nil || !e.Stopping() {
		t.Error(err)
	}
	<-e.Over()
	if _, err := LoadCheckpoint(e.dir); err == nil {
		t.Error("it wrote a checkpoint")
	}
}

// late is a part whose deadline is known after the Tick of the others.
type late struct {
	part
	at time.Time
}

func (l *late) Due(time.Time) time.Time { return l.at }

func TestNextTick(t *testing.T) {
	now := time.Unix(1e9, 0)
	l := &late{}
	parts := Parts{{Name: "late", Part: l}, {Name: "ticker", Part: &ticker{tick: func() time.Time { l.at = now.Add(time.Second); return now.Add(time.Minute) }}}}
	if next := parts.Tick(now); !next.Equal(now.Add(time.Second)) {
		t.Errorf("something is due at %s", next)
	}
}

type ticker struct {
	part
	tick func() time.Time
}

func (t *ticker) Tick(time.Time) time.Time { return t.tick() }
