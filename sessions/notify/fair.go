package notify

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// served says when a notice about a session was last sent, by rule and session.
type served map[[2]string]time.Time

// candidate is a notice that may be sent as soon as its rule may send one more.
type candidate struct {
	occasion *Occasion
	rule     Rule
	before   int // of the same rule and session that are older
}

// fair orders the notices of each rule: the oldest of each session, then the second of each, and so on. Among these the
// sessions go first that have waited longer since their last one. So an agent that reports without end doesn't hold up
// what a rule has to say about other sessions.
func (m *Machine) fair(now time.Time, list []candidate) []candidate {
	maps.DeleteFunc(m.served, func(_ [2]string, at time.Time) bool { return now.Sub(at) > reportWaits })
	if m.served == nil {
		m.served = served{}
	}
	older := map[[2]string]int{}
	for i := range list {
		of := [2]string{list[i].rule.ID(), list[i].occasion.Session}
		list[i].before = older[of]
		older[of]++
	}
	last := func(c candidate) time.Time { return m.served[[2]string{c.rule.ID(), c.occasion.Session}] }
	slices.SortStableFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.before, b.before), last(a).Compare(last(b)))
	})
	return list
}
