package clients

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"berth/agent"
	"berth/api"
	"berth/keys"
	"berth/sessions/events"
	"berth/sessions/hold"
	"berth/sessions/lease"
	"berth/sessions/loop"
	"berth/terminal"
)

// desk is the clients of a session without a loop: the test is the loop. What the holder is
// asked for is done at once, and its records are applied.
type desk struct {
	*Clients
	t     *testing.T
	now   time.Time
	term  *terminal.Terminal
	n     uint64        // control records
	sizes []window      // that the holder was asked for
	typed []string      // to the program
	pace  time.Duration // that the holder was asked for
	noted []events.Event
	reads int // times that records without a wake were to be read

	barred bool // clients that have a lock may no longer type
}

func newDesk(t *testing.T) *desk {
	d := &desk{t: t, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), term: terminal.New(terminal.Options{Cols: 80, Rows: 24})}
	d.Clients = New(Env{
		Env: loop.Env{
			ID: "s1", Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return d.now },
			Note:       func(kind string, data any) uint64 { return d.note(0, kind, data) },
			Background: func(work func(context.Context)) { work(t.Context()) },
			Do:         func(_ context.Context, fn func()) error { fn(); return nil },
			Program:    func() loop.Program { return loop.Program{} },
			Name:       func() string { return "one" },
			Standing:   func() loop.Standing { return loop.Standing{} },
			Changed:    func() (<-chan struct{}, func()) { return make(chan struct{}), func() {} },
		},
		Policy:   func() SizePolicy { return SizeWriter },
		Holder:   func() Holder { return d },
		Terminal: func() *terminal.Terminal { return d.term }, Picture: func() *terminal.Terminal { return d.term },
		Resize: func(cols, rows int) { d.PassOn(); d.term.Resize(cols, rows); d.Resized() },
		Paced:  func(record uint64, kind, _ string, _ loop.By, data loop.Paced) { d.note(record, kind, data) },
		Dirty:  func() {}, Active: func() {}, Looked: func() {}, Wanted: func() bool { return false },
		ReadOn: func() { d.reads++ }, CatchUp: func() {}, MayLock: func(lease.Client) bool { return !d.barred },
		Settled: func(_ context.Context, fn func()) error { fn(); return nil },
	})
	return d
}

func (d *desk) note(record uint64, kind string, data any) uint64 {
	d.noted = append(d.noted, events.Event{Type: kind, Cause: record, Data: data})
	return uint64(len(d.noted))
}

// record applies a record of the holder's.
func (d *desk) record(kind string, data any) {
	d.t.Helper()
	d.n++
	raw, err := json.Marshal(data)
	if err != nil {
		d.t.Fatal(err)
	}
	if _, err := d.Record(hold.Record{N: d.n, Kind: kind, Time: api.At(d.now), Data: raw}); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) Type(data []byte, mark json.RawMessage, answered func(error)) error {
	d.typed = append(d.typed, string(data))
	d.record(hold.KindInput, hold.InputData{Bytes: len(data), Mark: mark})
	answered(nil)
	return nil
}

func (d *desk) InputLater(data []byte, mark json.RawMessage) (<-chan error, error) {
	done := make(chan error, 1)
	return done, d.Type(data, mark, func(err error) { done <- err })
}

func (d *desk) Resize(cols, rows int, mark json.RawMessage) error {
	d.sizes = append(d.sizes, window{cols, rows})
	d.record(hold.KindResize, hold.ResizeData{Cols: cols, Rows: rows, Mark: mark})
	return nil
}

func (d *desk) Signal(syscall.Signal, json.RawMessage) error { return nil }
func (d *desk) Pace(pace time.Duration)                      { d.pace = pace }

func actor(client string) loop.Actor {
	return loop.Actor{Identity: keys.Identity{Kind: keys.KindKey, Name: client, Role: keys.Operator}, Client: client}
}

func (d *desk) join(client string, cols, rows int) *Member {
	d.t.Helper()
	m, err := d.Join(d.t.Context(), Visitor{Actor: actor(client), Terminal: true, Cols: cols, Rows: rows})
	if err != nil {
		d.t.Fatal(err)
	}
	return m
}

// took gives the events of a type so far, and forgets all.
func took[T any](d *desk) (list []T) {
	for _, e := range d.noted {
		if data, ok := e.Data.(T); ok {
			list = append(list, data)
		}
	}
	d.noted = nil
	return list
}

// A window that comes during a lock does not resize the session before the lock's end,
// and does then.
func TestWindowDuringALock(t *testing.T) {
	d := newDesk(t)
	a := d.join("a", 50, 10)
	lock, err := d.Lock(t.Context(), loop.Claim{Actor: actor("c")}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	a.Window(60, 12)
	<-d.WindowChanged()
	d.LookAtWindows()
	if want := []window{{50, 10}}; !reflect.DeepEqual(d.sizes, want) {
		t.Errorf("during the lock %v were asked for", d.sizes)
	}
	if err := d.Unlock(t.Context(), actor("c"), lock.Generation); err != nil {
		t.Fatal(err)
	}
	if want := []window{{50, 10}, {60, 12}}; !reflect.DeepEqual(d.sizes, want) || d.present() != want[1] {
		t.Errorf("%v were asked for, and the size is %v", d.sizes, d.present())
	}
}

// What a client types within a second is one event. It comes before the event of what a call
// types, also one of the same client, and by the clock alone.
func TestKeystrokesAreGathered(t *testing.T) {
	d := newDesk(t)
	a := d.join("a", 50, 10)
	typed := func(text string) {
		t.Helper()
		if err := a.Type(t.Context(), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	typed("x")
	d.now = d.now.Add(typingWindow / 2)
	typed("yz")
	if got := took[inputEvent](d); got != nil {
		t.Errorf("%+v before a second is over", got)
	}
	if err := d.Deliver(t.Context(), loop.Claim{Actor: a.Actor, Verb: "input"}, []byte("a call")); err != nil {
		t.Fatal(err)
	}
	want := []inputEvent{{By: a.By(), Bytes: 3, Verb: "attach"}, {By: a.By(), Bytes: 6, Verb: "input"}}
	if got := took[inputEvent](d); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	typed("now")
	d.now = d.now.Add(typingWindow)
	typed("later")
	if got := took[inputEvent](d); len(got) != 1 || got[0].Bytes != 3 {
		t.Errorf("before what is typed after a second: %+v", got)
	}
	began := d.now
	next := d.Tick(d.now)
	if next.After(began.Add(typingWindow)) {
		t.Errorf("next at %s", next.Sub(began))
	}
	d.now = began.Add(typingWindow)
	if d.Tick(d.now); d.reads == 0 {
		t.Error("the records of keystrokes are not read")
	}
	if got := took[inputEvent](d); len(got) != 1 || got[0].Bytes != 5 {
		t.Errorf("by the clock: %+v", got)
	}
	if d.PersonAt() != began || d.LastInput() != began {
		t.Errorf("typed at %s and %s", d.PersonAt(), d.LastInput())
	}
}

// TestKeysAreForWhatWasAsked: keys wait while a delivery is under way, such as another client's answer, and those of a
// verb as long as its caller wants. If the session asks something else after it, they would answer what the person hasn't
// seen, and aren't typed.
func TestKeysAreForWhatWasAsked(t *testing.T) {
	claim := loop.Claim{Actor: actor("a"), Wait: time.Minute}
	for way, send := range map[string]func(*desk, *Member) error{
		"attached": func(_ *desk, a *Member) error { return a.Type(t.Context(), []byte("1")) },
		"input":    func(d *desk, _ *Member) error { return d.Deliver(t.Context(), claim, []byte("1")) },
		"keys":     func(d *desk, _ *Member) error { _, err := d.Press(t.Context(), claim, []string{"1"}); return err },
	} {
		for name, c := range map[string]struct{ before, after, typed string }{
			"nothing":               {"", "", "1"},
			"the same question":     {"p1", "p1", "1"},
			"the next question":     {"p1", "p2", ""},
			"nothing after it":      {"p1", "", ""},
			"a question that comes": {"", "p1", ""},
		} {
			d, asks := newDesk(t), c.before
			a := d.join("a", 50, 10)
			d.env.Standing = func() loop.Standing {
				if asks == "" {
					return loop.Standing{}
				}
				return loop.Standing{Prompt: &agent.Request{ID: asks}}
			}
			grant, _, err := d.lease.Begin(d.now, loop.Claim{Actor: actor("c")}.Writer(true), lease.Want{})
			if err != nil {
				t.Fatal(err)
			}
			changed := make(chan struct{}, 1)
			changed <- struct{}{}
			tries := 0
			d.env.Changed = func() (<-chan struct{}, func()) { return changed, func() {} }
			d.env.Do = func(_ context.Context, fn func()) error {
				if tries++; tries == 2 {
					d.lease.End(d.now, grant)
					asks = c.after
				}
				fn()
				return nil
			}
			err = send(d, a)
			if got := strings.Join(d.typed, " "); got != c.typed || tries < 2 || (c.typed == "") != (err != nil && api.AsError(err).Code == api.CodeStalePrompt) {
				t.Errorf("%s, %s: %q was typed in %d tries, %v", way, name, got, tries, err)
			}
		}
	}
}

// TestFocusIsNoKey: a report that a window was entered or left, or that the mouse was moved, is recorded as one: it answers no dialog.
func TestFocusIsNoKey(t *testing.T) {
	d := newDesk(t)
	a := d.join("a", 50, 10)
	for data, focus := range map[string]bool{"1": false, "\x1b[I": true, "\x1b[O": true, "\x1b[I1": false, "\x1b": false,
		"\x1b[<35;9;9M": true, "\x1b[<35;9;9M\x1b[<35;8;9M\x1b[I": true, "\x1b[<0;9;9M": false, "\x1b[<35;9;9M\x1b[<0;9;9M": false, "\x1b[<64;9;9M": false, "\x1b[<35;9;9M1": false} {
		d.now = d.now.Add(time.Second)
		if err := a.Type(t.Context(), []byte(data)); err != nil {
			t.Fatal(err)
		}
		d.Tick(d.now.Add(10 * time.Second))
		if typed := d.PersonAt().Equal(d.now); typed == focus {
			t.Errorf("%q: a person typed: %v", data, typed)
		}
		if m := d.Mark(); m.Focus != focus || !m.Typed || m.By != a.By() {
			t.Errorf("%q: %+v", data, m)
		}
	}
}

// The fast path is for the member that holds the lease, and what it typed is known when the fast path is
// closed.
func TestLane(t *testing.T) {
	d := newDesk(t)
	a, b := d.join("a", 50, 10), d.join("b", 50, 10)
	soon := func(m *Member) bool { return m.TryType([]byte("k"), func(error) {}) }
	if d.OpenFastPath(); soon(a) {
		t.Error("a client without the lease typed")
	}
	d.CloseFastPath()
	if err := a.Type(t.Context(), []byte("k")); err != nil {
		t.Fatal(err)
	}
	if soon(a) {
		t.Error("the fast path is open while the loop works")
	}
	d.now = d.now.Add(10 * time.Second)
	d.Tick(d.now) // all that was typed is read
	d.OpenFastPath()
	if !soon(a) || soon(b) {
		t.Error("the fast path is not the writer's")
	}
	d.CloseFastPath()
	if w := d.Writer(); w == nil || !w.Expires.Equal(d.now.Add(lease.DefaultIdle)) || d.PersonAt() != d.now {
		t.Errorf("the fast path's keys are not known: %+v", w)
	}
	reads := d.reads
	d.now = d.now.Add(typingWindow)
	if d.Tick(d.now); d.reads != reads+1 {
		t.Error("the records of the fast path's keys are not read")
	}
}

// A session that no client looks at for a second is read at a slower pace, until one looks.
func TestPace(t *testing.T) {
	d := newDesk(t)
	d.Tick(d.now)
	d.now = d.now.Add(aloneAfter)
	if d.Tick(d.now); d.pace != alonePace {
		t.Errorf("alone the pace is %s", d.pace)
	}
	if d.Watch(); len(d.WindowChanged()) != 1 {
		t.Error("the loop is not woken for a caller that looks")
	}
	d.join("a", 50, 10)
	if d.Tick(d.now); d.pace != 0 {
		t.Errorf("with a client the pace is %s", d.pace)
	}
}

// The next server goes on with a lock and with the generations, and reports what the end of the
// last one meant for its clients. Events after the checkpoint count.
func TestNextServer(t *testing.T) {
	d := newDesk(t)
	a := d.join("a", 50, 10)
	if err := a.Type(t.Context(), []byte("x")); err != nil {
		t.Fatal(err)
	}
	saved, err := d.Save()
	if err != nil {
		t.Fatal(err)
	}
	d.noted = nil
	b := d.join("b", 50, 10)
	a.Leave()
	lock, err := d.Lock(t.Context(), loop.Claim{Actor: actor("c")}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	next := func(lines []events.Event) *desk {
		t.Helper()
		n := newDesk(t)
		n.now = d.now
		if err := n.Restore(saved, false); err != nil {
			t.Fatal(err)
		}
		for _, e := range lines {
			raw, err := json.Marshal(e.Data)
			if err != nil {
				t.Fatal(err)
			}
			n.Recall(events.Line{Type: e.Type, Raw: raw})
		}
		n.Resume(true)
		n.Start()
		return n
	}
	left := func(n *desk) (who []loop.By) {
		for _, e := range took[clientEvent](n) {
			if e.Why == "restart" {
				who = append(who, e.By)
			}
		}
		return who
	}

	n := next(nil)
	if w := n.Writer(); w != nil {
		t.Errorf("%+v writes", w)
	}
	if n.PersonAt() != d.now {
		t.Errorf("a person typed at %s", n.PersonAt())
	}
	if got := left(n); !reflect.DeepEqual(got, []loop.By{a.By()}) {
		t.Errorf("%v have left", got)
	}
	n = next(d.noted)
	if w := n.Writer(); w == nil || w.Generation != lock.Generation || w.Client != "c" {
		t.Errorf("%+v writes", w)
	}
	if got := left(n); !reflect.DeepEqual(got, []loop.By{b.By()}) {
		t.Errorf("%v have left", got)
	}
}

// A checkpoint of the version before has the lease and the clients among its own fields.
func TestCheckpointOfTheVersionBefore(t *testing.T) {
	d := newDesk(t)
	const line = `{"version":1,"cursor":7,"last_input":"2025-12-31T23:59:00.000Z","person_input":"2025-12-31T23:58:00.000Z",` +
		`"lease":{"generation":4,"holder":{"id":"c3","identity":"ann","fingerprint":"","may_write":true,"kind":"lock","generation":4,` +
		`"since":"2025-12-31T23:59:00Z","last_input":"2025-12-31T23:59:00Z","expires":"2026-01-01T00:01:00Z"}},"here":[{"identity":"bob","fingerprint":"f","client":"c2"}]}`
	if err := d.Restore([]byte(line), true); err != nil {
		t.Fatal(err)
	}
	d.Resume(true)
	d.Start()
	if w := d.Writer(); w == nil || w.Generation != 4 || w.Client != "c3" {
		t.Errorf("%+v writes", w)
	}
	if at := d.now.Add(-2 * time.Minute); !d.PersonAt().Equal(at) || !d.LastInput().Equal(at.Add(time.Minute)) {
		t.Errorf("typed at %s and %s", d.PersonAt(), d.LastInput())
	}
	if got := took[clientEvent](d); len(got) != 1 || got[0].By.Client != "c2" || got[0].Why != "restart" {
		t.Errorf("%+v", got)
	}
}

// After a small client has left, the session has its former size again: with another client here, and
// for the next server too. A size that a call sets stays, and so does a client's larger window.
func TestFormerSize(t *testing.T) {
	take := func(m *Member) {
		t.Helper()
		if err := m.Take(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	large, small := window{120, 40}, window{40, 20}
	d := newDesk(t)
	d.SizeIs(80, 24)
	desktop := d.join("desktop", large.Cols, large.Rows)
	phone := d.join("phone", small.Cols, small.Rows)
	if take(phone); d.present() != small {
		t.Fatalf("%v while the phone has control", d.present())
	}
	saved, err := d.Save()
	if err != nil {
		t.Fatal(err)
	}
	if phone.Leave(); d.present() != large {
		t.Errorf("%v after the phone has left", d.present())
	}
	if desktop.Leave(); d.present() != large {
		t.Errorf("%v after the larger window has left too", d.present())
	}

	phone = d.join("phone", small.Cols, small.Rows)
	if err := d.Clients.Resize(t.Context(), loop.Claim{Actor: actor("c"), Verb: "resize"}, 100, 30); err != nil {
		t.Fatal(err)
	}
	if phone.Leave(); d.present() != (window{100, 30}) {
		t.Errorf("%v after a call has set 100x30", d.present())
	}

	n := newDesk(t)
	n.term.Resize(small.Cols, small.Rows)
	if err := n.Restore(saved, false); err != nil {
		t.Fatal(err)
	}
	n.Resume(true)
	n.SizeIs(small.Cols, small.Rows)
	if n.Start(); n.present() != large {
		t.Errorf("%v for the next server", n.present())
	}
}

// A client that takes nothing while the program writes to the clipboard again and again gets the newest write,
// and its other notices.
func TestClipboardKeepsTheNewest(t *testing.T) {
	d := newDesk(t)
	m, err := d.Join(t.Context(), Visitor{Actor: actor("c1"), Terminal: true, Cols: 80, Rows: 24})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		d.Clipboard(ClipboardAll, "c;"+strconv.Itoa(i))
	}
	d.Kick("gone")
	if got := <-m.Clipboard(); got != "c;99" || len(m.Clipboard()) != 0 {
		t.Errorf("%q is the newest write, and %d more wait", got, len(m.Clipboard()))
	}
	if n := <-m.Notices(); n.Kicked != "gone" {
		t.Errorf("notice %+v", n)
	}
}

// TestPasteOfTwoParts: another client takes control between two parts of a paste. What it types waits for the paste's end, or
// comes after an end that Berth types; the rest of the paste isn't typed as keys then.
func TestPasteOfTwoParts(t *testing.T) {
	other := loop.Claim{Actor: actor("x"), Takeover: true, Verb: "input"}
	d := newDesk(t)
	a := d.join("a", 50, 10)
	say := func(text string) {
		t.Helper()
		if err := a.Type(t.Context(), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	say("\x1b[200~one\r")
	var busy *lease.BusyError
	if _, err := d.begin(other); !errors.As(err, &busy) || !busy.Delivering {
		t.Errorf("amid a paste: %v", err)
	}
	say("two\x1b[20")
	say("1~")
	if err := d.Deliver(t.Context(), other, []byte("x")); err != nil {
		t.Fatal(err)
	}
	say("\x1b[200~three\r")
	d.now = d.now.Add(lease.DefaultCutAfter)
	if err := d.Deliver(t.Context(), other, []byte("y")); err != nil {
		t.Fatal(err)
	}
	say("four\r")
	say("five\r\x1b[201~k")
	say("\x1b[200~five")
	d.now = d.now.Add(lease.DefaultCutAfter)
	if err := d.Deliver(t.Context(), other, []byte("v")); err != nil {
		t.Fatal(err)
	}
	d.now = d.now.Add(restWithin)
	say("l")
	say("\x1b[200~six")
	a.Leave()
	if err := d.Deliver(t.Context(), other, []byte("z")); err != nil {
		t.Fatal(err)
	}
	want := []string{"\x1b[200~one\r", "two\x1b[20", "1~", "x", "\x1b[200~three\r", "\x1b[201~", "y", "k", "\x1b[200~five", "\x1b[201~", "v", "l", "\x1b[200~six", "\x1b[201~", "z"}
	if !slices.Equal(d.typed, want) {
		t.Errorf("typed %q, want %q", d.typed, want)
	}
}

// TestFastPathAmidAPaste: the fast path types nothing amid another client's paste.
func TestFastPathAmidAPaste(t *testing.T) {
	d := newDesk(t)
	a, b := d.join("a", 50, 10), d.join("b", 50, 10)
	if err := a.Type(t.Context(), []byte("\x1b[200~one")); err != nil {
		t.Fatal(err)
	}
	if err := b.Take(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.OpenFastPath()
	if b.TryType([]byte("1"), func(error) {}) {
		t.Errorf("typed %q", d.typed)
	}
	d.CloseFastPath()
	d.now = d.now.Add(lease.DefaultCutAfter)
	if err := b.Type(t.Context(), []byte("1")); err != nil {
		t.Fatal(err)
	}
	if want := []string{"\x1b[200~one", "\x1b[201~", "1"}; !slices.Equal(d.typed, want) {
		t.Errorf("typed %q, want %q", d.typed, want)
	}
}
