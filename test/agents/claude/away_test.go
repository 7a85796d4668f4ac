//go:build agents

package claude

import (
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

// awayFor is how long the server stays away: BERTH_LAB_AWAY, if it is set. Soak tests set
// it to a minute.
func awayFor(t *testing.T) time.Duration {
	given := os.Getenv("BERTH_LAB_AWAY")
	if given == "" {
		return 10 * time.Second
	}
	d, err := time.ParseDuration(given)
	check(t, err)
	return d
}

// labStep is a step of the model that runs a command.
func labStep(command string) modelapi.Step {
	return modelapi.Say(modelapi.Tool("Bash", map[string]any{"command": command, "description": "Run the lab's command"}))
}

// requests are those for the steps of a turn, as the API saw them.
func (l *lab) requests(message string) []modelapi.Request {
	var list []modelapi.Request
	for _, r := range l.API.Requests() {
		if r.Kind == modelapi.KindTurn && r.Prompt == message {
			list = append(list, r)
		}
	}
	return list
}

// between are the times of the steps that began between two moments.
func between(list []modelapi.Request, from, to time.Time) []time.Duration {
	var times []time.Duration
	for i := 1; i < len(list); i++ {
		if at := list[i-1].Time; !at.Before(from) && at.Before(to) {
			times = append(times, list[i].Time.Sub(at))
		}
	}
	return times
}

// spread is the lower quartile of times, the median, and the longest.
func spread(times []time.Duration) (quick, median, most time.Duration) {
	sorted := slices.Clone(times)
	slices.Sort(sorted)
	n := len(sorted)
	return sorted[n/4].Round(time.Millisecond), sorted[n/2].Round(time.Millisecond), sorted[n-1].Round(time.Millisecond)
}

// hookWatch lists the hooks of a session as the system shows them: which process runs, and
// for how long.
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

// testServerAway kills the server, and then stops it, during a turn with tools and hooks.
// Claude works as fast as with a server. The next server emits each event of that time
// once.
func testServerAway(t *testing.T) {
	l := newLabAs(t, "claude", Ready(), nil, "--allowedTools", "Bash(sleep:*)")
	l.Is("idle")
	away := awayFor(t)
	for _, way := range []struct {
		name            string
		leave, comeBack func() error
	}{
		{"killed", l.Host.Kill, l.Host.Start},
		{"stopped", l.Host.Freeze, l.Host.Thaw},
	} {
		message := "Work while the server is " + way.name
		enough := l.API.QueueWork("work", labStep("sleep 0.1"))
		l.send(message)
		l.Asked(message, withServer)
		l.Is("working")
		hooks := watchHooks(filepath.Join(l.home.Dir, "..", "state"))
		left := time.Now()
		check(t, way.leave())
		time.Sleep(away)
		back := time.Now()
		check(t, way.comeBack())
		there := time.Now() // a server that has just come back takes its time of both cores
		seen, longest := hooks.close()
		l.Asked(message, len(l.requests(message))+withServer)
		enough()
		l.Is("idle")

		all := l.requests(message)
		quick, median, most := spread(append(between(all, time.Time{}, left), between(all, there, time.Now())...))
		quickAway, medianAway, mostAway := spread(between(all, left, back))
		t.Logf("with a server %v a step, at most %v; %s for %v: %v, at most %v, %d steps; %d hooks were seen, the longest ran %v",
			median, most, way.name, back.Sub(left).Round(time.Millisecond), medianAway, mostAway, len(between(all, left, back)), seen, longest.Round(time.Millisecond))
		// Other processes slow many of the steps, so the quick ones are compared. A hook that waited for the server
		// would do so at every step.
		if quickAway > 2*quick {
			t.Errorf("%s: a quick step takes %v, %v with a server", way.name, quickAway, quick)
		}
		if longest >= hookMost || mostAway >= hookMost {
			t.Errorf("%s: a hook ran %v, a step took %v", way.name, longest, mostAway)
		}
		l.toldOnce(way.name, len(all)-1)
	}
}

const (
	// withServer is the number of steps before and after the server's absence that the others are compared with.
	withServer = 8
	// hookMost is the limit of a hook that only reports, with or without a server.
	hookMost = 5 * time.Second
)

// toldOnce checks the events of the newest turn, which has n commands: each hook once and in
// order, and the states from working to idle.
func (l *lab) toldOnce(name string, n int) {
	l.T.Helper()
	out, _ := l.Host.Call(l.Ctx, nil, "watch", l.Name, "--since", l.Name+":0", "--timeout", "1s") // the timeout ends watch
	hooks, calls, states, last := map[string]int{}, map[string]int{}, []string{}, uint64(0)
	for line := range strings.Lines(string(out)) {
		var e struct {
			Type, Event, Next string
			Seq               uint64
			Payload           struct {
				Tool_use_id string
				Prompt      string
			}
		}
		check(l.T, json.Unmarshal([]byte(line), &e))
		switch e.Type {
		case "gap":
			l.T.Errorf("%s: a gap: %s", name, line)
			continue
		case "", "heartbeat", "end": // not in the log
			continue
		}
		if e.Seq != last+1 {
			l.T.Errorf("%s: event %d after event %d", name, e.Seq, last)
		}
		last = e.Seq
		if e.Type == "hook" && e.Event == "UserPromptSubmit" {
			hooks, calls = map[string]int{}, map[string]int{} // the last turn's count
			if n := len(states); n > 0 && states[n-1] == "working" {
				states = states[n-1:] // emitted because of another source, before the hook came
			} else {
				states = nil
			}
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
			l.T.Errorf("%s: %s has %d events, want %d", name, event, hooks[event], want)
		}
	}
	for call, times := range calls {
		if times != 1 {
			l.T.Errorf("%s: %s has %d events, want 1", name, call, times)
		}
	}
	if got := strings.Join(states, " "); got != "working idle" && got != "working unknown working idle" {
		l.T.Errorf("%s: the states were %s", name, got)
	}
}

// claudeSays waits until Claude's own state file says so, which needs no server.
func (l *lab) claudeSays(status string) {
	l.T.Helper()
	var said string
	l.Poll(func() bool {
		for _, s := range ownStates(filepath.Join(l.home.Config, "sessions")) {
			said = s.Status
		}
		return said == status
	}, func() string { return fmt.Sprintf("Claude's file says %q, not %q", said, status) })
}

// TestAskedWhileAway opens a permission's dialog while no server runs. The hook keeps
// waiting, the next server finds the prompt, and that hook can answer it.
func TestAskedWhileAway(t *testing.T) {
	t.Parallel()
	l := newLabAs(t, "claude", Ready(), nil, "--allowedTools", "Bash(sleep:*)")
	l.Is("idle")
	for _, way := range []struct {
		name            string
		leave, comeBack func() error
	}{
		{"killed", l.Host.Kill, l.Host.Start},
		{"stopped", l.Host.Freeze, l.Host.Thaw},
	} {
		file := "asked-" + way.name
		l.API.Queue(modelapi.Scenario{Name: "late-question", Steps: []modelapi.Step{labStep("sleep 2"), labStep("touch " + file)}})
		message := "Ask while it is " + way.name
		l.send(message)
		l.Asked(message, 0)
		l.Is("working")
		check(t, way.leave())
		l.Asked(message, 1)
		l.claudeSays("waiting") // the dialog is open
		check(t, way.comeBack())
		// Claude's own file may be read before the hook with the prompt's content.
		s := l.Is("prompt")
		l.Poll(func() bool { s = l.Said(); return s.Prompt != nil && s.Prompt.Input == "touch "+file }, func() string {
			return fmt.Sprintf("%s: the prompt is %+v", way.name, s.Prompt)
		})
		l.Respond("hook", "accepted", "accept")
		l.Is("idle")
		if !l.Made(file) {
			t.Errorf("%s: accepted, and it did not run", way.name)
		}
	}
}
