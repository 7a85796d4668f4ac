package commands

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/api"
	"berth/keys"
	"berth/sessions/events"
)

// unread is a client that reads nothing until it is closed.
type unread struct{ asked, read chan struct{} }

func (u unread) Write(p []byte) (int, error) {
	u.asked <- struct{}{}
	<-u.read
	return len(p), nil
}

// TestAnswersThatAreNotRead: what one caller's calls hold for a client that reads nothing is bounded. Another one's
// calls are not held up.
func TestAnswersThatAreNotRead(t *testing.T) {
	d := newDesk(t)
	d.call(admin, "new alpha -- cat")
	client := unread{make(chan struct{}), make(chan struct{})}
	var work sync.WaitGroup
	for range answersAtOnce + 1 {
		work.Go(func() {
			d.call(viewer, "state alpha", func(r *Request) { r.Out = client })
		})
	}
	for range answersAtOnce {
		<-client.asked
	}
	if a := d.call(operator, "state alpha"); a.status != 0 {
		t.Errorf("another caller: %+v", a)
	}
	_, err := d.answers.enter(t.Context(), viewer, 1, time.Millisecond)
	if api.AsError(err).Code != api.CodeLimit {
		t.Errorf("an answer beyond the bound: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.answers.enter(ctx, viewer, 1, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("a client that has gone: %v", err)
	}
	select {
	case <-client.asked:
		t.Error("one answer more was made")
	default:
	}
	client.read <- struct{}{}
	<-client.asked // the one that waited
	close(client.read)
	work.Wait()
	if len(d.answers.of) != 0 {
		t.Errorf("%d callers are kept", len(d.answers.of))
	}
}

// TestPartsOfAnswers: what git runs for counts as several answers, and a stream as none.
func TestPartsOfAnswers(t *testing.T) {
	for line, want := range map[string]int{
		"ls":                           1,
		"output alpha":                 1,
		"output alpha --raw":           0,
		"output alpha --raw --limit 9": 1,
		"output alpha --follow":        0,
		"output alpha --hook 7 --raw":  largeAnswer,
		"screen alpha --follow":        0,
		"worktree diff alpha":          largeAnswer,
		"worktree rm alpha":            0,
		"watch":                        0,
		"nudge alpha hi":               0,
	} {
		c := &Call{Service: &Service{}, Request: Request{Line: line, Identity: func() keys.Identity { return viewer }}}
		verb, err := c.parse()
		if err != nil {
			t.Fatal(err)
		}
		if got := c.parts(verb); got != want {
			t.Errorf("%s: %d parts, want %d", line, got, want)
		}
	}
	var a answers
	for range answersAtOnce / largeAnswer {
		if _, err := a.enter(t.Context(), viewer, largeAnswer, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.enter(t.Context(), viewer, largeAnswer, time.Millisecond); api.AsError(err).Code != api.CodeLimit {
		t.Errorf("a large answer beyond the bound: %v", err)
	}
}

// TestAnswersBeyondAVerb: a page of an inbox, and a whole hook that a watch prints, are answers like those of other verbs. Both
// calls last longer than that, so they take their part when they have something to print.
func TestAnswersBeyondAVerb(t *testing.T) {
	d := newDesk(t)
	d.call(admin, "new alpha -- cat")
	leave, err := d.answers.enter(t.Context(), admin, answersAtOnce, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	s, ok := d.Sessions.Find("alpha")
	if !ok {
		t.Fatal("there is no alpha")
	}
	var out recorder
	w := &watcher{full: true, Call: &Call{Service: d.Service, Request: Request{Identity: func() keys.Identity { return admin }, Out: &out}, JSON: true}}
	hook := streamed{Line: events.Line{Type: "hook", ID: s.ID(), Raw: []byte(`{"type":"hook"}`)}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.tell(ctx, hook); !errors.Is(err, context.Canceled) || out.String() != "" {
		t.Errorf("a whole hook beyond the bound: %v, %q", err, out.String())
	}
	page := make(chan answer)
	go func() { page <- d.call(admin, "inbox alpha", to(&out)) }()
	for waiting := 0; waiting < 2; { // this test's answer, and the call
		d.answers.mu.Lock()
		for _, one := range d.answers.of {
			waiting = one.calls
		}
		d.answers.mu.Unlock()
		runtime.Gosched()
	}
	if out.String() != "" {
		t.Errorf("an inbox beyond the bound: %q", out.String())
	}
	leave()
	if a := <-page; a.status != 0 || !strings.Contains(out.String(), `"messages"`) {
		t.Errorf("the inbox: %+v, %q", a, out.String())
	}
	if err := w.tell(t.Context(), hook); err != nil || !strings.Contains(out.String(), `{"type":"hook"`) {
		t.Errorf("the whole hook: %v, %q", err, out.String())
	}
}
