package sessions

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"berth/sessions/lease"
)

func TestTypingPastTheLoop(t *testing.T) {
	p := open(t)
	s := p.sh("one", "stty raw -echo; exec cat >/dev/null")
	a, b := join(t, s, visitor("a", 50, 10)), join(t, s, visitor("b", 50, 10))
	answers := make(chan error, 1)
	soon := func(m *Member) bool { return m.TryType([]byte("x"), func(err error) { answers <- err }) }
	if soon(a) {
		t.Fatal("a client without the lease typed")
	}
	if err := a.Type(t.Context(), []byte("x")); err != nil { // the first key takes it
		t.Fatal(err)
	}
	for range 49 {
		for deadline := time.Now().Add(patience); !soon(a); time.Sleep(time.Millisecond) { // the loop may be awake
			if time.Now().After(deadline) {
				t.Fatal("who holds the lease cannot type past the loop")
			}
		}
		if err := <-answers; err != nil {
			t.Fatal(err)
		}
		if soon(b) {
			t.Fatal("a client without the lease typed")
		}
	}
	before := s.Status().Writer.Expires
	if err := b.Take(t.Context()); err != nil {
		t.Fatal(err)
	}
	var busy *lease.BusyError
	if soon(a) || !errors.As(a.Type(t.Context(), []byte("x")), &busy) {
		t.Fatal("who lost the lease typed")
	}
	if h := busy.Holder; h.ID != "b" || h.Expires.Before(before.Time) {
		t.Errorf("held by %+v", h)
	}
	a.Leave() // what it typed is reported by then
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		typed := 0
		for _, line := range p.log(s.ID())["input"] {
			var e struct {
				Bytes int `json:"bytes"`
			}
			if err := json.Unmarshal(line.Raw, &e); err != nil {
				t.Fatal(err)
			}
			typed += e.Bytes
		}
		if typed == 50 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes in events, 50 typed", typed)
		}
	}
}
