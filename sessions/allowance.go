package sessions

import "time"

// identitiesKept is from how many counts on those that are full again are dropped.
const identitiesKept = 64

// allowance bounds how often something happens: most times at once, and once more for
// each pause.
type allowance struct {
	left, most int
	pause      time.Duration
	last       time.Time // when left last grew
}

func full(most int, pause time.Duration, now time.Time) allowance {
	return allowance{left: most, most: most, pause: pause, last: now}
}

func (a *allowance) fill(now time.Time) {
	if n := int(now.Sub(a.last) / a.pause); n > 0 {
		a.left = min(a.most, a.left+n)
		a.last = a.last.Add(time.Duration(n) * a.pause)
	}
}

// take uses one up. It is false when none is left.
func (a *allowance) take(now time.Time) bool { return a.takeSome(1, now) == 0 }

// takeSome uses n up. If fewer are left it uses none and returns the time until n are left.
func (a *allowance) takeSome(n int, now time.Time) (wait time.Duration) {
	a.fill(now)
	if a.left < n {
		return a.last.Add(time.Duration(n-a.left) * a.pause).Sub(now)
	}
	a.left -= n
	return 0
}

// again is when one is left, if none is now.
func (a *allowance) again() time.Time { return a.last.Add(a.pause) }

// rested says that all are left.
func (a *allowance) rested(now time.Time) bool {
	a.fill(now)
	return a.left == a.most
}
