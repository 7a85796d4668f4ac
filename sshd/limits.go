package sshd

import (
	"sync"
	"time"

	"berth/keys"
)

// bucket is a token bucket. It is safe for concurrent use.
type bucket struct {
	mu    sync.Mutex
	rate  float64 // a second
	burst float64
	left  float64
	last  time.Time
}

// newBucket makes a full bucket for that many seconds of rate.
func newBucket(rate, seconds float64, now time.Time) *bucket {
	return &bucket{rate: rate, burst: rate * seconds, left: rate * seconds, last: now}
}

func (b *bucket) take(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fill(now)
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}

func (b *bucket) fill(now time.Time) {
	if d := now.Sub(b.last); d > 0 {
		b.left = min(b.burst, b.left+b.rate*d.Seconds())
	}
	b.last = now
}

func (b *bucket) full(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fill(now)
	return b.left >= b.burst
}

// rates has one bucket for each caller. A full bucket is removed, so that there are no more of them
// than recently seen callers.
type rates struct {
	mu      sync.Mutex
	rate    float64
	buckets map[string]*bucket
	swept   time.Time
}

const (
	rateBurst = 2 // seconds of rate
	rateSweep = 10 * time.Second
)

func newRates(rate float64) *rates { return &rates{rate: rate, buckets: map[string]*bucket{}} }

func (r *rates) take(who keys.Identity, now time.Time) bool {
	return r.takeFor(string(who.Kind)+" "+who.Name+" "+who.Fingerprint, now)
}

func (r *rates) takeFor(name string, now time.Time) bool {
	r.mu.Lock()
	if now.Sub(r.swept) > rateSweep {
		r.swept = now
		for k, b := range r.buckets {
			if b.full(now) {
				delete(r.buckets, k)
			}
		}
	}
	b := r.buckets[name]
	if b == nil {
		b = newBucket(r.rate, rateBurst, now)
		r.buckets[name] = b
	}
	r.mu.Unlock()
	return b.take(now)
}
