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
	Profiles   []string `json:"profiles"`    // that it may start
	Max        int      `json:"max"`         // sessions below this one that run at once
	Depth      int      `json:"depth"`       // generations below this one; 0: as deep as there are
	Total      int      `json:"total"`       // sessions that are ever started below this one; 0: no bound
	LifetimeMS int64    `json:"lifetime_ms"` // of each session below this one; 0: no bound
	Cwd        []string `json:"cwd"`         // folders that it may name for a child, with what is in them
	Starts     int      `json:"starts"`      // in a minute, by the whole lineage; 0: DefaultStarts
	Keep       int      `json:"keep"`        // ended ones of the lineage that are kept; 0: DefaultKeep
	Verbs      []string `json:"verbs"`       // that it may use on them and what they start, beside looking
	InboxOnly  bool     `json:"inbox_only"`  // messages about their ends and reports aren't typed
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

// AllVerbs are those that a process of the session may use beside what all such may.
func (c Children) AllVerbs() []string {
	if len(c.Profiles) == 0 {
		return nil
	}
	return append([]string{"new"}, c.Verbs...)
}

// births counts the children that agents start.
type births struct {
	mu     sync.Mutex
	recent map[string][]time.Time // within startsIn, by the root of the lineage
	coming map[string][]string    // the lineages of those that are being made, by the child's id
	born   map[string]int         // sessions that were started below one, by its id
}

// ancestor is a session above one that is to be made.
type ancestor struct {
	id, name string
	depth    int
	may      Children
	born     int      // as its folder says; births may know of more
	run      []string // ids of the sessions below it that run
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

// begin counts the child that spec is to make, in one step, where each session above it allows one more and
// no more of its lineage were started than starts. It returns how many each has by then. One that is started
// again was made before: it counts among those that run, and as a start.
func (b *births) begin(now time.Time, spec Spec, again bool, lineage func() []ancestor, starts int) (map[string]int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	above := lineage()
	for _, a := range above {
		n := 0
		for _, ids := range b.coming {
			if slices.Contains(ids, a.id) {
				n++
			}
		}
		for _, id := range a.run {
			if _, counted := b.coming[id]; !counted {
				n++
			}
		}
		total := max(b.born[a.id], a.born)
		switch {
		case a.may.Max > 0 && n >= a.may.Max:
			return nil, fmt.Errorf("%d sessions below %s run, and no more may: wait until one has ended", n, a.name)
		case again:
		case a.may.Total > 0 && total >= a.may.Total:
			return nil, fmt.Errorf("%d sessions were started below %s, and children.total allows no more", total, a.name)
		case a.may.Depth > 0 && spec.Depth-a.depth > a.may.Depth:
			return nil, fmt.Errorf("it would be %d generations below %s, and children.depth allows %d", spec.Depth-a.depth, a.name, a.may.Depth)
		}
	}
	for root, times := range b.recent {
		times = slices.DeleteFunc(times, func(t time.Time) bool { return now.Sub(t) >= startsIn })
		if b.recent[root] = times; len(times) == 0 {
			delete(b.recent, root)
		}
	}
	if times := b.recent[spec.Root]; len(times) >= starts {
		wait := times[0].Add(startsIn).Sub(now).Truncate(time.Second) + time.Second
		return nil, fmt.Errorf("%d sessions of its lineage were started within a minute, and no more may be: wait %s, or raise children.starts in the configuration", len(times), wait)
	}
	b.recent[spec.Root] = append(b.recent[spec.Root], now)
	born, ids := map[string]int{}, []string{}
	for _, a := range above {
		b.born[a.id] = max(b.born[a.id], a.born)
		if !again {
			b.born[a.id]++
		}
		born[a.id] = b.born[a.id]
		ids = append(ids, a.id)
	}
	b.coming[spec.ID] = ids
	return born, nil
}

// end says that the child is known by now, or that there will be none.
func (b *births) end(child string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.coming, child)
}
