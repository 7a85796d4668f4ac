package commands

import (
	"context"
	"errors"
	"sync"
	"time"

	"berth/api"
	"berth/keys"
)

const (
	// answersAtOnce bounds the answers that one caller's calls make, and hold until they are read: a client that
	// reads nothing would else take 3 MB of memory with each call of output, on 256 channels. Answers that take
	// more count as several.
	answersAtOnce = 16
	// largeAnswer is the part that an answer of several MiB takes, or one that git runs for.
	largeAnswer = 4
	// answerWait bounds how long a call waits for the caller's other answers to be read.
	answerWait = time.Minute
	// streamPart is the most output that a stream of it reads at once, and holds while its client reads nothing.
	streamPart = 64 << 10
)

var errAnswers = errors.New("the caller's answers are not read")

// answers are the answers under way, by caller. The zero value is empty.
type answers struct {
	mu sync.Mutex
	of map[string]*answersOf
}

type answersOf struct {
	calls int           // that hold a part or wait for one; under answers.mu
	turn  chan struct{} // held by the call that takes its parts
	parts chan struct{} // those that are taken
}

// enter takes parts for an answer until leave. It waits while the caller's other answers have them, for at most
// patience (0: as long as ctx).
func (a *answers) enter(ctx context.Context, id keys.Identity, parts int, patience time.Duration) (leave func(), err error) {
	if parts == 0 {
		return func() {}, nil
	}
	one, end := a.call(id)
	taken := 0
	leave = func() {
		for range taken {
			<-one.parts
		}
		end()
	}
	within := ctx
	if patience > 0 {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeoutCause(ctx, patience, errAnswers)
		defer cancel()
	}
	select {
	case one.turn <- struct{}{}:
		defer func() { <-one.turn }()
	case <-within.Done():
	}
	for taken < parts && within.Err() == nil {
		select {
		case one.parts <- struct{}{}:
			taken++
		case <-within.Done():
		}
	}
	switch {
	case taken == parts:
		return leave, nil
	case errors.Is(context.Cause(within), errAnswers):
		err = api.Errorf(api.CodeLimit, "your other calls hold %d answers that no client reads: read them, or end the calls", answersAtOnce)
	default:
		err = ctx.Err()
	}
	leave()
	return nil, err
}

// call counts a call of a caller until end.
func (a *answers) call(id keys.Identity) (one *answersOf, end func()) {
	who := id.Share()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.of == nil {
		a.of = map[string]*answersOf{}
	}
	one = a.of[who]
	if one == nil {
		one = &answersOf{turn: make(chan struct{}, 1), parts: make(chan struct{}, answersAtOnce)}
		a.of[who] = one
	}
	one.calls++
	return one, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if one.calls--; one.calls == 0 {
			delete(a.of, who)
		}
	}
}

// parts are what the call's answer takes of the caller's answers. A stream takes none: it holds streamPart at most.
func (c *Call) parts(verb *Verb) int {
	set := func(name string) bool { on, err := c.flags.GetBool(name); return err == nil && on }
	switch {
	case verb.Group != "see" || verb.changes(c.Args) || set("follow"):
		return 0
	case verb.Name == "worktree" || c.flags.Changed("hook"):
		return largeAnswer
	case verb.Name == "output" && set("raw") && !c.flags.Changed("limit"):
		return 0
	}
	return 1
}
