package hold

import (
	"time"

	"berth/api"
)

const (
	// hooksASecond is how many events a session may have recorded in a second;
	// the rest is counted.
	hooksASecond = 200
	// namedASecond of each name are recorded even then, so that a flood of one
	// does not hide what the others tell.
	namedASecond = 10
	// hookNames bounds the different names counted in a second.
	hookNames = 64
)

// hookRate decides which events get a record of their own.
type hookRate struct {
	began  time.Time
	taken  int
	named  map[string]int
	missed map[string]int // since from
	count  int
	from   time.Time
	last   time.Time
}

// take reports whether an event may be recorded, and counts it if not.
func (r *hookRate) take(name string, now time.Time) bool {
	if age := now.Sub(r.began); age >= time.Second || age < 0 {
		r.began, r.taken = now, 0
		clear(r.named)
	}
	if r.named == nil {
		r.named = make(map[string]int)
	}
	if _, known := r.named[name]; !known && len(r.named) >= hookNames {
		name = ""
	}
	r.named[name]++
	if r.taken++; r.taken <= hooksASecond || r.named[name] <= namedASecond {
		return true
	}
	r.miss(name, now)
	return false
}

// miss counts an event that is not recorded.
func (r *hookRate) miss(name string, now time.Time) {
	if r.missed == nil {
		r.missed, r.from = make(map[string]int), now
	}
	if _, known := r.missed[name]; !known && len(r.missed) >= hookNames {
		name = ""
	}
	r.missed[name]++
	r.count++
	r.last = now
}

// due is when missed events are reported.
func (r *hookRate) due() (time.Time, bool) {
	return r.from.Add(time.Second), r.count > 0
}

// flush takes the count.
func (r *hookRate) flush() CoalescedData {
	d := CoalescedData{From: api.At(r.from), To: api.At(r.last), Count: r.count, Events: r.missed}
	r.missed, r.count = nil, 0
	return d
}
