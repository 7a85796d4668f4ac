package loop

import "time"

// IdentitiesKept is the number of counts from which on those that are full again are dropped.
const IdentitiesKept = 64

// Allowance bounds how often something happens: most times at once, and once more for
// each pause.
type Allowance struct {
	left, most int
	pause      time.Duration
	last       time.Time // when left last grew
}

// Full is an allowance with all of its most.
func Full(most int, pause time.Duration, now time.Time) Allowance {
	return Allowance{left: most, most: most, pause: pause, last: now}
}

func (a *Allowance) fill(now time.Time) {
	if n := int(now.Sub(a.last) / a.pause); n > 0 {
		a.left = min(a.most, a.left+n)
		a.last = a.last.Add(time.Duration(n) * a.pause)
	}
}

// Take uses one up. It is false when none is left.
func (a *Allowance) Take(now time.Time) bool { return a.TakeSome(1, now) == 0 }

// TakeSome uses n up. If fewer are left it uses none and returns the time until n are left.
func (a *Allowance) TakeSome(n int, now time.Time) (wait time.Duration) {
	a.fill(now)
	if a.left < n {
		return a.last.Add(time.Duration(n-a.left) * a.pause).Sub(now)
	}
	a.left -= n
	return 0
}

// again is when one is left, if none is now.
func (a *Allowance) again() time.Time { return a.last.Add(a.pause) }

// Rested says that all are left.
func (a *Allowance) Rested(now time.Time) bool {
	a.fill(now)
	return a.left == a.most
}
