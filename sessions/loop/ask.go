package loop

import (
	"context"
	"time"
)

// Ask is Do, of an Env, for a function with a result.
func Ask[T any](ctx context.Context, do func(context.Context, func()) error, fn func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	got := make(chan result, 1)
	err := do(ctx, func() {
		value, err := fn()
		got <- result{value, err}
	})
	if err != nil {
		var none T
		return none, err
	}
	r := <-got
	return r.value, r.err
}

// Until waits until cond, which runs on the loop, holds. It is not for the loop's goroutine.
func (e Env) Until(ctx context.Context, cond func() bool) error {
	changed, stop := e.Changed()
	defer stop()
	for {
		met, err := Ask(ctx, e.Do, func() (bool, error) { return cond(), nil })
		if err != nil || met {
			return err
		}
		select {
		case <-changed:
		case <-e.Over:
			return e.Stopped()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Pause returns at a signal of changed, or after most; with the context's error before that.
func Pause(ctx context.Context, changed <-chan struct{}, most time.Duration) error {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// Later is the later of two moments.
func Later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
