package life

import "time"

// Back-off between automatic restarts: doubled each time, begun anew after the
// program has run well for a while.
const (
	backOffFirst = time.Second
	backOffMost  = time.Minute
	ranWell      = time.Minute
	ranAMoment   = time.Second // too short to have asked anybody anything
)

// restarts is the plan for starting an ended program again.
type restarts struct {
	at      time.Time // zero: none planned
	wait    time.Duration
	running time.Time // when it last started
}

func (r *restarts) due() (time.Time, bool) { return r.at, !r.at.IsZero() }

func (r *restarts) cancel() { r.at = time.Time{} }

func (r *restarts) started(now time.Time) { r.running, r.at = now, time.Time{} }

func (r *restarts) plan(now time.Time) {
	if r.wait == 0 || now.Sub(r.running) > ranWell {
		r.wait = backOffFirst
	} else {
		r.wait = min(2*r.wait, backOffMost)
	}
	r.at = now.Add(r.wait)
}

// failed plans the next start after one that came to nothing: that program ran
// for no time.
func (r *restarts) failed(now time.Time) {
	r.running = now
	r.plan(now)
}

// more is the same for one that asked for it itself: at once, unless it has just
// been started.
func (r *restarts) more(now time.Time) {
	if now.Sub(r.running) < ranAMoment {
		r.plan(now)
		return
	}
	r.at = now
}
