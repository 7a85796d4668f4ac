//go:build agents

package claude

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/test/agents/modelapi"
)

// awayFor is how long the server stays away: the environment's BERTH_LAB_AWAY
// where it is set, as for soak tests, which take a minute.
func awayFor(t *testing.T) time.Duration {
	given := os.Getenv("BERTH_LAB_AWAY")
	if given == "" {
		return 10 * time.Second
	}
	d, err := time.ParseDuration(given)
	check(t, err)
	return d
}

// steps works through a turn of n commands, each allowed beforehand, and gives
// the times between the model's steps as the API saw them.
func (l *lab) steps(message string, n int) []time.Duration {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.ctx, patient+time.Duration(n)*2*time.Second)
	defer cancel()
	_, err := l.api.Wait(ctx, func(r modelapi.Request) bool {
		return r.Kind == modelapi.KindTurn && r.Prompt == message && r.Step == n
	})
	check(l.t, err)
	var times []time.Duration
	var last time.Time
	for _, r := range l.api.Requests() {
		if r.Kind != modelapi.KindTurn || r.Prompt != message {
			continue
		}
		if r.Step > 0 {
			times = append(times, r.Time.Sub(last))
		}
		last = r.Time
	}
	return times
}

// spread is the median of times and the longest.
func spread(times []time.Duration) (median, most time.Duration) {
	sorted := slices.Clone(times)
	slices.Sort(sorted)
	return sorted[len(sorted)/2].Round(time.Millisecond), sorted[len(sorted)-1].Round(time.Millisecond)
}

// hookWatch looks at the hooks of a session's as the system shows them: which
// process runs, and for how long.
type hookWatch struct {
	stop chan struct{}
	done chan struct{}
	mu   sync.Mutex
	seen int
	most time.Duration
	name string
}

const hooksEvery = 10 * time.Millisecond

// watchHooks follows `berth hook --tell` below a folder.
func watchHooks(dir string) *hookWatch {
	w := &hookWatch{stop: make(chan struct{}), done: make(chan struct{})}
	go w.run(dir)
	return w
}

func (w *hookWatch) run(dir string) {
	defer close(w.done)
	known := map[int]bool{} // of each process seen, whether it is a hook
	since := map[int]time.Time{}
	tick := time.NewTicker(hooksEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-w.stop:
			return
		}
		now, present := time.Now(), map[int]bool{}
		entries, _ := os.ReadDir("/proc")
		for _, e := range entries {
			pid, err := strconv.Atoi(e.Name())
			if err != nil {
				continue
			}
			present[pid] = true
			if _, ok := known[pid]; ok {
				continue
			}
			line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			words := strings.Split(string(line), "\x00")
			known[pid] = len(words) > 3 && strings.HasPrefix(words[0], dir) && words[1] == "hook" && words[2] == "--tell"
			if known[pid] {
				since[pid] = now
				w.mu.Lock()
				w.seen++
				w.mu.Unlock()
			}
		}
		for pid, hook := range known {
			if !hook && present[pid] {
				continue
			}
			if hook {
				w.mu.Lock()
				w.most = max(w.most, now.Sub(since[pid]))
				w.mu.Unlock()
			}
			if !present[pid] {
				delete(known, pid)
				delete(since, pid)
			}
		}
	}
}

func (w *hookWatch) close() (seen int, most time.Duration) {
	close(w.stop)
	<-w.done
	return w.seen, w.most
}

// TestServerAway has the server killed, and then stopped, amid a turn with
// tools and hooks: Claude goes on as fast as with a server, and afterwards all
// is known of what happened meanwhile, once.
func TestServerAway(t *testing.T) {
	t.Parallel()
	l := newLabAs(t, "claude", Ready(), nil, "--allowedTools", "Bash(sleep:*)")
	l.is("idle")
	away := awayFor(t)

	const few = 12
	message := fmt.Sprintf("MOCK: steps %d sleep 0.1", few)
	l.send(message)
	up := l.steps(message, few)
	l.is("idle")
	median, most := spread(up)
	t.Logf("with a server: %v a step, at most %v", median, most)

	for _, way := range []struct {
		name           string
		leave, return_ func() error
	}{
		{"killed", l.host.Kill, l.host.Start},
		{"stopped", l.host.Freeze, l.host.Thaw},
	} {
		n := int(away/median) + few
		message := fmt.Sprintf("MOCK: steps %d sleep 0.1 %s", n, way.name)
		l.send(message)
		l.asked(message, 1)
		l.is("working")
		hooks := watchHooks(filepath.Join(l.home.Dir, "..", "state"))
		check(t, way.leave())
		left := time.Now()
		time.Sleep(away)
		check(t, way.return_())
		gone := time.Since(left)
		seen, longest := hooks.close()
		during := 0
		for _, r := range l.api.Requests() {
			if r.Kind == modelapi.KindTurn && r.Prompt == message && r.Time.After(left) && r.Time.Before(left.Add(gone)) {
				during++
			}
		}
		medianAway, mostAway := spread(l.steps(message, n))
		t.Logf("%s for %v: %v a step, at most %v; %d steps meanwhile, %d hooks were seen, the longest ran %v",
			way.name, gone.Round(time.Millisecond), medianAway, mostAway, during, seen, longest.Round(time.Millisecond))
		if during < int(away/median)/2 {
			t.Errorf("%s: only %d steps in %v, at %v a step with a server", way.name, during, gone, median)
		}
		if medianAway > median*3/2+50*time.Millisecond {
			t.Errorf("%s: %v a step, %v with a server", way.name, medianAway, median)
		}
		if longest >= 5*time.Second || mostAway >= 5*time.Second {
			t.Errorf("%s: a hook ran %v, a step took %v", way.name, longest, mostAway)
		}
		l.is("idle")
		l.toldOnce(way.name, n, left)
	}
}

// toldOnce checks the events of a turn of n commands that was sent last: each
// hook once, in order, and from work to rest.
func (l *lab) toldOnce(name string, n int, since time.Time) {
	l.t.Helper()
	out, _ := l.host.Call(l.ctx, nil, "watch", l.Name, "--since", l.Name+":0", "--timeout", "1s") // its timeout is its end
	hooks, calls, states, last := map[string]int{}, map[string]int{}, []string{}, uint64(0)
	turns := 0
	for line := range strings.Lines(string(out)) {
		var e struct {
			Type, Event, Next string
			Seq               uint64
			Payload           struct {
				Tool_use_id string
				Prompt      string
			}
		}
		check(l.t, json.Unmarshal([]byte(line), &e))
		switch e.Type {
		case "gap":
			l.t.Errorf("%s: a gap: %s", name, line)
			continue
		case "", "heartbeat": // the end by --timeout
			continue
		}
		if e.Seq != last+1 {
			l.t.Errorf("%s: event %d behind event %d", name, e.Seq, last)
		}
		last = e.Seq
		if e.Type == "hook" && e.Event == "UserPromptSubmit" {
			turns++
			hooks, calls, states = map[string]int{}, map[string]int{}, nil // the last turn's count
		}
		switch e.Type {
		case "hook":
			hooks[e.Event]++
			if id := e.Payload.Tool_use_id; id != "" {
				calls[e.Event+" "+id]++
			}
		case "state_change":
			states = append(states, e.Next)
		}
	}
	for event, want := range map[string]int{"UserPromptSubmit": 1, "PreToolUse": n, "PostToolUse": n, "PostToolBatch": n, "Stop": 1} {
		if hooks[event] != want {
			l.t.Errorf("%s: %s was told %d times, want %d", name, event, hooks[event], want)
		}
	}
	for call, times := range calls {
		if times != 1 {
			l.t.Errorf("%s: %s was told %d times", name, call, times)
		}
	}
	if got := strings.Join(states, " "); got != "working idle" && got != "working unknown working idle" {
		l.t.Errorf("%s: the states were %s", name, got)
	}
}

// TestAskedWhileAway opens a permission's dialog while no server is there: the
// hook goes on waiting, the next server finds the prompt, and it can be
// answered by that hook.
func TestAskedWhileAway(t *testing.T) {
	t.Parallel()
	l := newLabAs(t, "claude", Ready(), nil, "--allowedTools", "Bash(sleep:*)")
	l.is("idle")
	command := func(c string) modelapi.Step {
		return modelapi.Say(modelapi.Tool("Bash", map[string]any{"command": c, "description": "Run the lab's command"}))
	}
	for _, way := range []struct {
		name           string
		leave, return_ func() error
	}{
		{"killed", l.host.Kill, l.host.Start},
		{"stopped", l.host.Freeze, l.host.Thaw},
	} {
		file := "asked-" + way.name
		l.api.Queue(modelapi.Scenario{Name: "late-question", Steps: []modelapi.Step{command("sleep 2"), command("touch " + file)}})
		message := "Ask while it is " + way.name
		l.send(message)
		l.asked(message, 0)
		l.is("working")
		check(t, way.leave())
		l.asked(message, 1)
		time.Sleep(3 * time.Second) // the dialog is open now
		check(t, way.return_())
		s := l.is("prompt")
		if s.Prompt == nil || s.Prompt.Input != "touch "+file {
			t.Fatalf("%s: the prompt is %+v", way.name, s.Prompt)
		}
		l.respond("hook", "accepted", "accept")
		l.is("idle")
		if !l.made(file) {
			t.Errorf("%s: accepted, and it did not run", way.name)
		}
	}
}
