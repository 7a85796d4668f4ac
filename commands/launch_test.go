package commands

import (
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
	for _, name := range []string{"greedy", "greedy", "greedy", "other"} {
		go func() {
			read(name)
			ended <- struct{}{}
		}()
	}
	if first, second := <-reading, <-reading; first == second {
		t.Errorf("two of %s at once", first)
	}
	for range 2 {
		goOn <- struct{}{}
	}
	for range 2 {
		<-reading
		goOn <- struct{}{}
	}
	for range 4 {
		<-ended
	}
}
