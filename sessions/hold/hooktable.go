package hold

import (
	"cmp"
	"slices"
	"time"

	"berth/api"
)

// WaitingHook is a hook that waits for a verdict, as Welcome lists it. Its
// record has the rest.
type WaitingHook struct {
	ID    uint64   `json:"id"` // the number of its record
	Event string   `json:"event,omitempty"`
	PID   int      `json:"pid"`
	Since api.Time `json:"since"`
}

// waitingHook is one asker that waits.
type waitingHook struct {
	id          uint64
	event       string
	pid         int
	since       time.Time
	hold, grace time.Duration
	answer      chan hookAnswer // holds the one that it gets
}

// hookAnswer ends the wait: with a verdict, or without.
type hookAnswer struct {
	verdict bool
	status  int
	stdout  []byte
}

// hookTable has the waiting hooks and their deadlines. The caller that removes a hook from it ends its wait,
// and no other caller does: so a hook is answered at most once.
type hookTable struct {
	waiting map[uint64]*waitingHook
	// alone is since when no server is connected; zero while one is.
	alone time.Time
}

// due is when the wait of w is over, and why.
func (t *hookTable) due(w *waitingHook) (time.Time, string) {
	end, why := w.since.Add(w.hold), GoneHeld
	if t.alone.IsZero() {
		return end, why
	}
	from := w.since
	if t.alone.After(from) {
		from = t.alone
	}
	if g := from.Add(w.grace); g.Before(end) {
		return g, GoneNoServer
	}
	return end, why
}

// next is the first moment at which a wait is over.
func (t *hookTable) next() (first time.Time, any bool) {
	for _, w := range t.waiting {
		if end, _ := t.due(w); !any || end.Before(first) {
			first, any = end, true
		}
	}
	return first, any
}

// take takes a hook out.
func (t *hookTable) take(id uint64) (*waitingHook, bool) {
	w, ok := t.waiting[id]
	delete(t.waiting, id)
	return w, ok
}

// add has w wait.
func (t *hookTable) add(w *waitingHook) {
	if t.waiting == nil {
		t.waiting = make(map[uint64]*waitingHook)
	}
	t.waiting[w.id] = w
}

// list gives all that wait, oldest first.
func (t *hookTable) list() []*waitingHook {
	all := make([]*waitingHook, 0, len(t.waiting))
	for _, w := range t.waiting {
		all = append(all, w)
	}
	slices.SortFunc(all, func(a, b *waitingHook) int { return cmp.Compare(a.id, b.id) })
	return all
}

// welcome is the list in a server's welcome.
func (t *hookTable) welcome() []WaitingHook {
	var all []WaitingHook
	for _, w := range t.list() {
		all = append(all, WaitingHook{ID: w.id, Event: w.event, PID: w.pid, Since: api.At(w.since)})
	}
	return all
}
