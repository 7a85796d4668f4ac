// Package registry is what a fleet's gateway knows of its hosts: which of them are there, and their sessions. Hosts
// say it themselves (fleet/member), each about itself alone: NATS keeps a host from publishing as another.
//
// A host sends a Beat every BeatEvery, and its Rows when they change. The gateway answers from memory, so no host can
// delay it. The package has no clock, no goroutine and no connection; a Registry may be used from any goroutine.
package registry

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"berth/api"
)

// BeatEvery is how often a host says that it is there. After Absent without a word it counts as unreachable. Fleets
// promise that within 6 s, and a beat of each second was most of what an idle gateway cost.
const (
	BeatEvery = 2 * time.Second
	Absent    = 5 * time.Second
)

// Bounds of what a host may say. A host that says more is cut off, so that it can't fill the gateway's memory.
const (
	MostRows  = 4000
	MostBytes = 3 << 20 // of one message; the NATS server's limit is above it
	mostBeat  = 16 << 10
	mostTexts = 64
)

// Subjects below berth.from.HOST where a host publishes, and below berth.to.HOST where it is asked for its rows.
const (
	BeatSubject = "beat"
	RowsSubject = "rows"
	AskSubject  = "ask"
)

// Beat is what a host says of itself every BeatEvery.
type Beat struct {
	Version string   `json:"version"`
	Labels  []string `json:"labels"`
	Running int      `json:"running"` // sessions
	Rows    uint64   `json:"rows"`    // the number of its newest Rows
}

// Rows are all sessions of a host.
type Rows struct {
	Number   uint64        `json:"number"` // another one at each change
	Sessions []api.Session `json:"sessions"`
	Pending  []string      `json:"pending"` // ids of those whose first message isn't taken
}

// Host is a host, as of one moment. Callers don't change what it refers to.
type Host struct {
	Name      string
	Reachable bool
	Draining  bool      // no new session goes there by itself
	Since     time.Time // of Reachable; zero: the host hasn't been seen
	Beat      Beat
	Sessions  []api.Session
	Pending   []string // see Rows
}

// Descends says that a session's agent was started by that of ancestor, or by one that was.
func (h Host) Descends(id, ancestor string) bool {
	for range h.Sessions { // a host may tell of a circle
		i := slices.IndexFunc(h.Sessions, func(s api.Session) bool { return s.ID == id })
		if i < 0 || h.Sessions[i].Parent == nil {
			return false
		}
		if id = *h.Sessions[i].Parent; id == ancestor {
			return true
		}
	}
	return false
}

// known is a host's entry.
type known struct {
	from, seen time.Time // the first and the last beat without a pause between them
	beat       Beat
	rows       Rows
	saved      bool // what is on disk is this
	draining   bool
}

// Registry has all hosts.
type Registry struct {
	mu    sync.Mutex
	hosts map[string]*known
}

// New makes an empty registry.
func New() *Registry { return &Registry{hosts: map[string]*known{}} }

// Admit lets a host be known. What is said by others is dropped, so a host that was removed isn't known again by
// what it had sent before.
func (r *Registry) Admit(host string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hosts[host] == nil {
		r.hosts[host] = &known{}
	}
}

// Drain notes whether new sessions are kept from a host.
func (r *Registry) Drain(host string, on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h := r.hosts[host]; h != nil {
		h.draining = on
	}
}

// Forget drops a host.
func (r *Registry) Forget(host string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.hosts, host)
}

// Heard takes a beat. stale says that the gateway hasn't the host's newest rows, and asks for them.
func (r *Registry) Heard(host string, data []byte, now time.Time) (stale bool, err error) {
	var b Beat
	if len(data) > mostBeat {
		return false, fmt.Errorf("a beat of %s has %d bytes", host, len(data))
	}
	if err := json.Unmarshal(data, &b); err != nil {
		return false, fmt.Errorf("read a beat of %s: %w", host, err)
	}
	b.Labels = slices.DeleteFunc(b.Labels[:min(len(b.Labels), mostTexts)], func(l string) bool { return api.CheckTag(l) != nil })
	b.Running = max(b.Running, 0)
	b.Version = strings.ToValidUTF8(b.Version[:min(len(b.Version), mostTexts)], "")
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.hosts[host]
	if h == nil {
		return false, nil
	}
	if h.seen.IsZero() || now.Sub(h.seen) > Absent {
		h.from = now
	}
	if b.Version != h.beat.Version || b.Running != h.beat.Running || !slices.Equal(b.Labels, h.beat.Labels) {
		h.saved = false
	}
	h.seen, h.beat = now, b
	return h.rows.Number != b.Rows, nil
}

// SetRows takes a host's rows. A row that isn't one of a session is dropped, and the others stay.
func (r *Registry) SetRows(host string, data []byte) error {
	var rows Rows
	if len(data) > MostBytes {
		return fmt.Errorf("the rows of %s have %d bytes", host, len(data))
	}
	if err := json.Unmarshal(data, &rows); err != nil {
		return fmt.Errorf("read the rows of %s: %w", host, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if h := r.hosts[host]; h != nil {
		h.rows, h.saved = rows, false
	}
	return nil
}

// Host is one host; ok is false for one that isn't in the fleet.
func (r *Registry) Host(name string, now time.Time) (h Host, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.hosts[name]
	if k == nil {
		return h, false
	}
	return k.at(name, now), true
}

// Hosts are all hosts, by name.
func (r *Registry) Hosts(now time.Time) []Host {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]Host, 0, len(r.hosts))
	for name, k := range r.hosts {
		out = append(out, k.at(name, now))
	}
	slices.SortFunc(out, func(a, b Host) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func (k *known) at(name string, now time.Time) Host {
	h := Host{Name: name, Draining: k.draining, Since: k.seen, Beat: k.beat, Sessions: k.rows.Sessions, Pending: k.rows.Pending}
	if !k.seen.IsZero() && now.Sub(k.seen) <= Absent {
		h.Reachable, h.Since = true, k.from
	}
	return h
}

// Saved is a host as a file has it, for the next gateway process: its rows stay known while it is away.
type Saved struct {
	Seen time.Time `json:"seen"` // when this was saved; it may have been seen later
	Beat Beat      `json:"beat"`
	Rows Rows      `json:"rows"`
}

// Encode writes the file. Its prompts keep their bytes.
func (s Saved) Encode() ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(s)
	return out.Bytes(), err
}

// Seen is when each host was last heard of. It changes with each beat, so it is saved apart from the rest.
func (r *Registry) Seen() map[string]time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[string]time.Time{}
	for name, k := range r.hosts {
		if !k.seen.IsZero() {
			out[name] = k.seen
		}
	}
	return out
}

// Unsaved are the hosts whose entries have changed since the last call.
func (r *Registry) Unsaved() map[string]Saved {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[string]Saved{}
	for name, k := range r.hosts {
		if !k.saved {
			out[name] = Saved{k.seen, k.beat, k.rows}
			k.saved = true
		}
	}
	return out
}

// Restore takes what an earlier process has saved about a host that is in the fleet.
func (r *Registry) Restore(host string, s Saved, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k := r.hosts[host]; k != nil && k.seen.IsZero() {
		k.beat, k.rows, k.saved = s.Beat, s.Rows, true
		// It isn't there until it says so. A time that is ahead would make it so.
		if k.seen = s.Seen; now.Sub(k.seen) <= Absent {
			k.seen = now.Add(-Absent - 1)
		}
	}
}
