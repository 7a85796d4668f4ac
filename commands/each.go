package commands

import (
	"context"
	"errors"
	"io"
	"sync"

	"berth/api"
	"berth/sessions"
)

// atOnce bounds how many sessions one call drives at a time: each holds a
// lease, and some need seconds.
const atOnce = 8

// result is what one target of a call came to.
type result struct {
	answer func(failed *api.Error) any // with what failed, for one of several
	text   func(io.Writer)
	status int   // of an answer that is no failure
	err    error // then there is no answer
	partly bool  // there is one all the same
}

// each does one thing with each target, several at a time, and answers for each
// as it is done. Of several targets a failure stands in the answer of its own,
// and the status is the highest.
func (c *Call) each(ctx context.Context, list []*sessions.Session, one func(*sessions.Session) result) error {
	if len(list) == 1 {
		return c.only(one(list[0]))
	}
	var mu sync.Mutex // of what is written, and
	worst := api.StatusDone
	var failed error
	slots := make(chan struct{}, atOnce)
	var work sync.WaitGroup
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
			r := one(s)
			mu.Lock()
			defer mu.Unlock()
			status, err := c.oneOf(r, s.Status().Name)
			worst, failed = max(worst, status), errors.Join(failed, err)
		})
	}
	work.Wait()
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

// only answers for a call's one target.
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

// oneOf answers for one of several targets and gives its status.
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
