package gateway

import "time"

// What each host may send. More is dropped before it is read, so a host that sends without end takes nothing from the
// others. An honest host sends a beat every 2 s and ten changes of its rows at most, and is asked again for rows that
// the gateway hasn't.
const (
	beatsASecond    = 20
	rowsASecond     = 4 << 20 // bytes
	renewalsASecond = 200
	warningsASecond = 1
)

// share is what each host may have of something in a second, and twice that after a pause. One goroutine owns it.
type share struct {
	rate  float64
	hosts map[string]*left
}

type left struct {
	at     time.Time
	amount float64
}

func newShare(rate float64) *share { return &share{rate, map[string]*left{}} }

// take says whether a host has that much left, and takes it.
func (s *share) take(host string, amount int, now time.Time) bool {
	h := s.hosts[host]
	if h == nil {
		h = &left{now, 2 * s.rate}
		s.hosts[host] = h
	}
	h.amount = min(2*s.rate, h.amount+s.rate*max(0, now.Sub(h.at).Seconds()))
	h.at = now
	if h.amount < float64(amount) {
		return false
	}
	h.amount -= float64(amount)
	return true
}
