package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"berth/api"
	"berth/sessions"
)

// atOnce bounds how many sessions one call drives at a time. Each takes a lease, and some take
// seconds.
const atOnce = 8

// result is the outcome for one target of a call.
type result struct {
	answer func(failed *api.Error) any // with the failure, for one target of several
	text   func(io.Writer)
	status int   // exit status without a failure
	err    error // nil if there is an answer
	partly bool  // there is an answer despite err
}

// each does one thing with each target, several at a time, and prints each answer when it is
// done. With several targets a failure is part of its target's answer, and the exit status is
// the highest of all.
func (c *Call) each(ctx context.Context, list []*sessions.Session, one func(*sessions.Session) result) error {
	if len(list) == 1 {
		return c.only(one(list[0]))
	}
	var mu sync.Mutex // of what is written, and
	worst := api.StatusDone
	var failed error
	slots := make(chan struct{}, atOnce)
	var work sync.WaitGroup
	var broken atomic.Pointer[broke]
	for _, s := range list {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
		work.Go(func() {
			defer func() { <-slots }()
			defer keepPanic(&broken)
			r := one(s)
			mu.Lock()
			defer mu.Unlock()
			status, err := c.oneOf(r, s.Status().Name)
			worst, failed = max(worst, status), errors.Join(failed, err)
		})
	}
	work.Wait()
	if p := broken.Load(); p != nil {
		panic(p)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case failed != nil:
		return failed
	case worst != api.StatusDone:
		return statusError(worst)
	}
	return nil
}

// broke is a panic of one of a call's goroutines. The call's own goroutine panics with it, since
// only there the edge contains it: elsewhere it would end the server.
type broke struct {
	value any
	stack []byte
}

func (b *broke) Error() string { return fmt.Sprintf("%v\n%s", b.value, b.stack) }

// keepPanic keeps the panic of the goroutine that defers it.
func keepPanic(in *atomic.Pointer[broke]) {
	if p := recover(); p != nil {
		in.Store(&broke{p, debug.Stack()})
	}
}

// only answers for a call with a single target.
func (c *Call) only(r result) error {
	if r.err == nil || r.partly {
		if err := c.answer(r.answer(nil), r.text); err != nil {
			return err
		}
	}
	if r.err == nil && r.status != api.StatusDone {
		return statusError(r.status)
	}
	return r.err
}

// oneOf answers for one of several targets and returns its status.
func (c *Call) oneOf(r result, name string) (int, error) {
	if r.err == nil {
		return r.status, c.answer(r.answer(nil), r.text)
	}
	shown := api.AsError(r.err)
	if shown.Code == api.CodeInternal {
		c.Log.Error("verb failed", "line", c.verbName(), "session", name, "identity", c.Identity().Name, "error", r.err)
	}
	c.warn(api.About(name, shown.Message))
	if !c.JSON {
		return shown.Code.Status(), nil
	}
	return shown.Code.Status(), c.printJSON(r.answer(shown))
}
