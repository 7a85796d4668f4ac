package commands

import (
	"runtime"
	"testing"

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
