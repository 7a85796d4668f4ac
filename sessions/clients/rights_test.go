package clients

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"berth/keys"
	"berth/sessions/lease"
	"berth/sessions/loop"
)

// TestLockWithoutRights: a lock ends when its client may no longer type, and what is typed under it ends first.
func TestLockWithoutRights(t *testing.T) {
	d := newDesk(t)
	lock := func() uint64 {
		t.Helper()
		w, err := d.Lock(t.Context(), loop.Claim{Actor: actor("c")}, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return w.Generation
	}
	held := func() bool { return d.Writer() != nil }
	lock()
	if next := d.Tick(d.now); next != d.now.Add(lockReview) || !held() {
		t.Errorf("looked at again after %s, held: %v", next.Sub(d.now), held())
	}
	d.barred = true
	if d.Tick(d.now.Add(lockReview - 1)); !held() {
		t.Error("its rights are looked up all the time")
	}
	took[writerEvent](d)
	d.now = d.now.Add(lockReview)
	d.Tick(d.now)
	if got := took[writerEvent](d); held() || len(got) != 1 || got[0].How != lease.ByRights {
		t.Errorf("%+v, held: %v", got, held())
	}

	d.barred = false
	generation := lock()
	d.barred = true
	err := d.Delivery(t.Context(), loop.Claim{Actor: actor("c"), Lease: generation}, func(loop.Write) error {
		d.now = d.now.Add(lockReview)
		if d.Tick(d.now); !held() {
			t.Error("it ends amid a delivery")
		}
		return nil
	})
	if err != nil || held() {
		t.Errorf("%v, held after the delivery: %v", err, held())
	}
}

// TestWriterWithoutRights: neither the window of a client that has typed and may no longer, nor its clipboard, is the
// session's.
func TestWriterWithoutRights(t *testing.T) {
	d := newDesk(t)
	var denied error
	m, err := d.Join(t.Context(), Visitor{Actor: actor("a"), Terminal: true, Cols: 50, Rows: 10, Allowed: func() error { return denied }})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Type(t.Context(), []byte("x")); err != nil {
		t.Fatal(err)
	}
	denied = errors.New("denied")
	m.Window(60, 12)
	<-d.WindowChanged()
	d.LookAtWindows()
	if want := []window{{50, 10}}; !reflect.DeepEqual(d.sizes, want) {
		t.Errorf("%v were asked for", d.sizes)
	}
	d.Clipboard(ClipboardWriter, "text")
	select {
	case text := <-m.Clipboard():
		t.Errorf("its clipboard has %q", text)
	default:
	}
}

// TestFormer: the client of a lock is the caller that took it, as far as is known.
func TestFormer(t *testing.T) {
	id := keys.Identity{Kind: keys.KindKey, Name: "ann", Fingerprint: "SHA256:x", Source: "10.0.0.1:5", Certificate: []byte("c")}
	if got := loop.Former(loop.Actor{Identity: id}.Writer(true)); !reflect.DeepEqual(got, id) {
		t.Errorf("%+v", got)
	}
	for _, c := range []struct {
		of   lease.Client
		kind keys.Kind
	}{{lease.Client{Identity: "ann", Fingerprint: "SHA256:x"}, keys.KindKey}, {lease.Client{Identity: "local:ann"}, keys.KindLocal}} {
		if got := loop.Former(c.of); got.Kind != c.kind || got.Name != c.of.Identity {
			t.Errorf("of an event: %+v", got)
		}
	}
}
