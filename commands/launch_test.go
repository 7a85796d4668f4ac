package commands

import (
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"berth/api"
	"berth/keys"
)

// TestDocumentsOfOneCaller: a caller's documents are read one after another, and another caller's meanwhile.
func TestDocumentsOfOneCaller(t *testing.T) {
	reading, goOn := make(chan string), make(chan struct{})
	s := &Service{Document: func(_ string, data []byte) (*Document, error) {
		reading <- string(data)
		<-goOn
		return &Document{}, nil
	}}
	read := func(name string) {
		c := &Call{Service: s, Request: Request{Identity: func() keys.Identity { return keys.Identity{Kind: keys.KindKey, Name: name} }}}
		if _, err := c.document(t.Context(), []byte(name)); err != nil {
			t.Error(err)
		}
	}
	ended := make(chan struct{})
	start := func(name string) {
		go func() {
			read(name)
			ended <- struct{}{}
		}()
	}
	const many = 20
	for range many {
		start("greedy")
	}
	<-reading
	for range 1000 { // for the others to come as far as they may
		runtime.Gosched()
	}
	start("other")
	if second := <-reading; second != "other" {
		t.Errorf("two of %s at once", second)
	}
	for i := range many + 1 {
		if i >= 2 { // two are being read already
			<-reading
		}
		goOn <- struct{}{}
	}
	for range many + 1 {
		<-ended
	}
}

// TestForkThatWaits: what a fork may change is judged again when its message has been read: berth.yaml may have
// new: profiles by then.
func TestForkThatWaits(t *testing.T) {
	d := newDesk(t)
	var only atomic.Bool
	d.OnlyProfiles = only.Load
	d.Document = func(string, []byte) (*Document, error) { return &Document{Fields: []string{"env"}}, nil }
	if a := d.call(admin, "new web-1 --profile web"); a.status != api.StatusDone {
		t.Fatalf("new: %+v", a)
	}
	message := readerFunc(func([]byte) (int, error) {
		only.Store(true)
		return 0, io.EOF
	})
	r := Request{Identity: func() keys.Identity { return admin }, Client: "c1", Line: "fork web-1 --env A=b --prompt -", In: io.MultiReader(strings.NewReader("hi"), message), Out: io.Discard, Err: io.Discard}
	if status := d.Run(t.Context(), r); status != api.CodeDenied.Status() {
		t.Errorf("status %d", status)
	}
}

// readerFunc is a reader's one method.
type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }
