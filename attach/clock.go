package attach

import "time"

// Clock is where time comes from.
type Clock interface {
	Now() time.Time
	// Timer sends on the channel once, d from now, unless stopped before.
	Timer(d time.Duration) (c <-chan time.Time, stop func())
}

// SystemClock is the real one.
type SystemClock struct{}

// Now is time.Now.
func (SystemClock) Now() time.Time { return time.Now() }

// Timer is a time.Timer.
func (SystemClock) Timer(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}
