//go:build agents

package claude

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/test/agents/host"
)

// bar is how late a state may be: from the time at which it is true, by a clock other than
// Berth's, to the line of a watch through ssh.
const bar = 500 * time.Millisecond

// stamp is what Claude's own state file said, and since when by its own word.
type stamp struct {
	At, Seen time.Time
	Status   string
}

// ownDelay is how long Claude takes from the time it stamps on its state to
// writing it: 90 of 100 times half of this, on a busy machine half a second.
const ownDelay = 100 * time.Millisecond

// since is when the state was true for any reader: the time that Claude gives, or later if
// Claude took too long to write it.
func (s stamp) since() time.Time {
	if said := s.Seen.Add(-ownDelay); said.After(s.At) {
		return said
	}
	return s.At
}

// truth reads Claude's own state file every few milliseconds, without Berth. Claude writes each
// state there with its time.
type truth struct {
	dir  string
	stop chan struct{}
	done chan struct{}

	mu   sync.Mutex
	list []stamp
}

const truthEvery = 3 * time.Millisecond

func followTruth(config string) *truth {
	tr := &truth{dir: filepath.Join(config, "sessions"), stop: make(chan struct{}), done: make(chan struct{})}
	go tr.run()
	return tr
}

func (tr *truth) run() {
	defer close(tr.done)
	tick := time.NewTicker(truthEvery)
	defer tick.Stop()
	last := map[string]stamp{}
	for {
		select {
		case <-tick.C:
		case <-tr.stop:
			return
		}
		for f, s := range ownStates(tr.dir) {
			if old := last[f]; old.Status == s.Status && old.At.Equal(s.At) {
				continue
			}
			last[f] = s
			tr.mu.Lock()
			tr.list = append(tr.list, s)
			tr.mu.Unlock()
		}
	}
}

// ownStates are what the files of a folder say, by file, as they are now.
func ownStates(dir string) map[string]stamp {
	files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	all := map[string]stamp{}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		var e struct {
			Status          string
			StatusUpdatedAt int64
			Kind            string
		}
		if json.NewDecoder(strings.NewReader(string(data))).Decode(&e) != nil || e.Kind != "interactive" {
			continue // torn; or a nested one
		}
		all[f] = stamp{At: time.UnixMilli(e.StatusUpdatedAt), Seen: time.Now(), Status: e.Status}
	}
	return all
}

func (tr *truth) close() { close(tr.stop); <-tr.done }

func (tr *truth) since(n int) []stamp {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return slices.Clone(tr.list[n:])
}

// moment is a change of state as a watching client received it.
type moment struct {
	Told  time.Time `json:"-"`
	Seq   uint64
	Time  time.Time
	Prev  string
	Next  string
	Tier  int
	Cause string

	Prompt   *struct{ Type, Tool string }
	Failure  *struct{ Class, Text string }
	Activity *struct{ Kind string }
}

// watcher follows the session as users do.
type watcher struct {
	t    *testing.T
	from *host.Follower
	done chan struct{}

	mu      sync.Mutex
	list    []moment
	hooks   []hookTold
	changed chan struct{}
}

type hookTold struct {
	Told    time.Time `json:"-"`
	Time    time.Time
	Event   string
	Foreign bool
	Seq     uint64
}

func (l *lab) watch() *watcher {
	l.T.Helper()
	from, err := l.Host.Follow(l.Ctx, "watch", l.Name, "--type", "state_change,hook,live")
	check(l.T, err)
	w := &watcher{t: l.T, from: from, done: make(chan struct{}), changed: make(chan struct{})}
	live := make(chan struct{})
	go w.run(live)
	select {
	case <-live:
	case <-time.After(patient):
		l.T.Fatal("the watch did not begin")
	}
	return w
}

func (w *watcher) run(live chan struct{}) {
	defer close(w.done)
	for line := range w.from.Lines {
		var head struct{ Type string }
		if json.Unmarshal(line.Text, &head) != nil {
			continue
		}
		w.mu.Lock()
		switch head.Type {
		case "live":
			close(live)
		case "state_change":
			m := moment{Told: line.Time}
			if json.Unmarshal(line.Text, &m) == nil {
				w.list = append(w.list, m)
			}
		case "hook":
			h := hookTold{Told: line.Time}
			if json.Unmarshal(line.Text, &h) == nil {
				w.hooks = append(w.hooks, h)
			}
		}
		close(w.changed)
		w.changed = make(chan struct{})
		w.mu.Unlock()
	}
}

func (w *watcher) close() { w.from.Close(); <-w.done }

func (w *watcher) since(n int) []moment {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.list[n:])
}

func (w *watcher) heard() []hookTold {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.hooks)
}

// chronicle is a lab with two records of its states: Claude's own state file, and the events
// that a watching client of Berth receives.
type chronicle struct {
	*lab
	truth *truth
	watch *watcher
	// What was there before the case that runs.
	stamps, moments int
}

func newChronicle(t *testing.T, seed Seed, env map[string]string, args ...string) *chronicle {
	t.Helper()
	l := newLabAs(t, "claude", seed, env, args...)
	l.Is("idle")
	return l.chronicle()
}

func (l *lab) chronicle() *chronicle {
	l.T.Helper()
	c := &chronicle{lab: l, truth: followTruth(l.home.Config), watch: l.watch()}
	l.T.Cleanup(func() { c.truth.close(); c.watch.close() })
	return c
}

// step is an expected state, and what Claude's file says when it is true. The status is
// empty if the file doesn't report the state; then at gives its time.
type step struct {
	state  string
	status string
	// at is when the state became true, for a state that the file doesn't report. It is nil for others.
	at func() time.Time
	// soft: no delay is measured, only that it comes.
	soft bool
}

func working() step             { return step{state: "working", status: "busy"} }
func asking() step              { return step{state: "prompt", status: "waiting"} }
func resting() step             { return step{state: "idle", status: "idle"} }
func failing() step             { return step{state: "error", status: "idle"} }
func (s step) unmeasured() step { s.soft = true; return s }

// quiet is how long nothing may follow the last expected state.
const quiet = 700 * time.Millisecond

// begin starts a case: follows ignores events from before.
func (c *chronicle) begin() {
	c.stamps, c.moments = len(c.truth.since(0)), len(c.watch.since(0))
}

// follows checks that exactly these states were emitted since begin, each in time. It
// returns them.
func (c *chronicle) follows(name string, steps ...step) []moment {
	c.T.Helper()
	c.waitFor(name, len(steps))
	time.Sleep(quiet) // checks that no other state is emitted
	got := c.watch.since(c.moments)
	stamps := c.truth.since(c.stamps)
	if told, want := tellMoments(got), tellSteps(steps); told != want {
		c.T.Errorf("%s: emitted %s, want %s\nby %s\nClaude's file said %s\nits hooks were %s", name, told, want, tellCauses(got), tellStamps(stamps), tellHooks(c.watch.heard()))
		return got
	}
	at := 0
	for i, s := range steps {
		if s.soft {
			continue
		}
		var since time.Time
		if s.at != nil {
			since = s.at()
		} else {
			for at < len(stamps) && stamps[at].Status != s.status {
				at++
			}
			if at == len(stamps) {
				c.T.Errorf("%s: Claude's file never said %s: %s", name, s.status, tellStamps(stamps))
				return got
			}
			if i == len(steps)-1 {
				// Between a turn and the next the file rests for a moment: the
				// last state is true since it was last written.
				for later := at + 1; later < len(stamps); later++ {
					if stamps[later].Status == s.status {
						at = later
					}
				}
			}
			since = stamps[at].since()
			at++
		}
		delay := got[i].Told.Sub(since)
		delays.add(name, s.state, delay)
		if delay > bar {
			c.T.Errorf("%s: %s was emitted %d ms after it was true (%s, tier %d), more than %v\nby %s\nClaude's file said %s\nits hooks were %s",
				name, s.state, delay.Milliseconds(), got[i].Cause, got[i].Tier, bar, tellCauses(got), tellStamps(stamps), tellHooks(c.watch.heard()))
		}
	}
	return got
}

// followsBriefly is for work so short that Berth may miss it. If Berth emits states, they
// are work and then idle.
func (c *chronicle) followsBriefly(name string) {
	c.T.Helper()
	time.Sleep(quiet)
	if len(c.watch.since(c.moments)) == 0 {
		c.follows(name)
		return
	}
	c.follows(name, working(), resting())
}

func (c *chronicle) waitFor(name string, n int) {
	c.T.Helper()
	deadline := time.NewTimer(patient)
	defer deadline.Stop()
	for {
		c.watch.mu.Lock()
		have, changed := len(c.watch.list)-c.moments, c.watch.changed
		c.watch.mu.Unlock()
		if have >= n {
			return
		}
		select {
		case <-changed:
		case <-deadline.C:
			c.T.Errorf("%s: only emitted %s; Claude's file said %s", name, tellMoments(c.watch.since(c.moments)), tellStamps(c.truth.since(c.stamps)))
			return
		}
	}
}

func tellMoments(list []moment) string {
	var words []string
	for _, m := range list {
		words = append(words, m.Next)
	}
	return strings.Join(words, " ")
}

func tellCauses(list []moment) string {
	var words []string
	for _, m := range list {
		words = append(words, fmt.Sprintf("%s %s %s", m.Time.Format("05.000"), m.Next, m.Cause))
	}
	return strings.Join(words, ", ")
}

func tellHooks(list []hookTold) string {
	var words []string
	for _, h := range list {
		words = append(words, h.Time.Format("05.000")+" "+h.Event)
	}
	return strings.Join(words, ", ")
}

func tellSteps(list []step) string {
	var words []string
	for _, s := range list {
		words = append(words, s.state)
	}
	return strings.Join(words, " ")
}

func tellStamps(list []stamp) string {
	var words []string
	for _, s := range list {
		words = append(words, fmt.Sprintf("%s %s (written by %s)", s.Status, s.At.Format("05.000"), s.Seen.Format("05.000")))
	}
	return strings.Join(words, ", ")
}

// delays are the measured delays of this run, by case and state.
var delays = delayTable{rows: map[string][]time.Duration{}}

type delayTable struct {
	mu   sync.Mutex
	rows map[string][]time.Duration
}

func (d *delayTable) add(name, state string, delay time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := name + " | " + state
	d.rows[key] = append(d.rows[key], delay)
}

// print shows the table: of each case the median, the least that 99 of 100 are within, the most, and how often.
func (d *delayTable) print() {
	d.mu.Lock()
	defer d.mu.Unlock()
	var keys []string
	for k := range d.rows {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	if len(keys) > 0 {
		fmt.Println("| what happened | state | median | p99 | most | times |")
	}
	for _, k := range keys {
		row := slices.Clone(d.rows[k])
		slices.Sort(row)
		p99 := row[(len(row)*99+99)/100-1]
		fmt.Printf("| %s | %d ms | %d ms | %d ms | %d |\n", k, row[len(row)/2].Milliseconds(), p99.Milliseconds(), row[len(row)-1].Milliseconds(), len(row))
	}
}
