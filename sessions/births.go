package sessions

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Children says what an agent inside a session may start, and what it may do to
// what it started. The zero value is nothing.
type Children struct {
	Profiles []string `json:"profiles"` // that it may start
	Max      int      `json:"max"`      // so many that run at once, made by this session itself
	Starts   int      `json:"starts"`   // in a minute, by the whole lineage; 0: DefaultStarts
	Keep     int      `json:"keep"`     // ended ones of the lineage that are kept; 0: DefaultKeep
	Verbs    []string `json:"verbs"`    // that it may use on them and what they start, beside looking
}

// What a session without numbers of its own is given. An agent that hands out
// work starts some; one in a loop starts all it may.
const (
	DefaultStarts = 10
	DefaultKeep   = 10
)

// startsIn is the period that a limit of starts refers to.
const startsIn = time.Minute

func (c Children) starts() int { return cmp.Or(c.Starts, DefaultStarts) }

func (c Children) keep() int { return cmp.Or(c.Keep, DefaultKeep) }

// verbs are those that a process of the session may use beside what all such may.
func (c Children) verbs() []string {
	if len(c.Profiles) == 0 {
		return nil
	}
	return append([]string{"new"}, c.Verbs...)
}

// births counts the children that agents start.
type births struct {
	mu     sync.Mutex
	recent map[string][]time.Time // within startsIn, by the root of the lineage
	coming map[string]string      // parents of those that are being made, by the child's id
}

// recall counts the children that were started before the server, by when each kept one
// was made. A time to come is that of a clock that was put back since, and counts for
// nothing: it would count without end.
func (b *births) recall(now time.Time, root string, made time.Time) {
	if age := now.Sub(made); root == "" || age < 0 || age >= startsIn {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.recent[root] = append(b.recent[root], made)
	slices.SortFunc(b.recent[root], time.Time.Compare)
}

// begin counts the child that spec is to make, where no more run than max and no
// more of its lineage were started than starts. run lists the parent's children
// that run.
func (b *births) begin(now time.Time, spec Spec, run func() []string, max, starts int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, parent := range b.coming {
		if parent == spec.Parent {
			n++
		}
	}
	for _, id := range run() {
		if _, counted := b.coming[id]; !counted {
			n++
		}
	}
	if n >= max {
		return fmt.Errorf("%d children of it run, and no more may: wait until one has ended", n)
	}
	for root, times := range b.recent {
		times = slices.DeleteFunc(times, func(t time.Time) bool { return now.Sub(t) >= startsIn })
		if b.recent[root] = times; len(times) == 0 {
			delete(b.recent, root)
		}
	}
	if times := b.recent[spec.Root]; len(times) >= starts {
		wait := times[0].Add(startsIn).Sub(now).Truncate(time.Second) + time.Second
		return fmt.Errorf("%d sessions of its lineage were started within a minute, and no more may be: wait %s, or raise children.starts in the configuration", len(times), wait)
	}
	b.recent[spec.Root] = append(b.recent[spec.Root], now)
	b.coming[spec.ID] = spec.Parent
	return nil
}

// end says that the child is known by now, or that there will be none.
func (b *births) end(child string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.coming, child)
}
