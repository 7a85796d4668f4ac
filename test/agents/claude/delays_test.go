//go:build agents

package claude

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"berth/test/agents/host"
)

// TestDelays compares the delay of each event with the bar, and Claude's pace without a
// server with its pace under one. Other tests wait until it is over, and only two of its
// subtests run at once: it measures Berth, and not how long a program waits for a busy
// processor.
func TestDelays(t *testing.T) {
	two := make(chan struct{}, 2)
	for _, measured := range []struct {
		name string
		test func(*testing.T)
	}{
		{"server away", testServerAway}, {"errors", testDelayError}, {"ends", testDelayEnd}, {"background", testDelayBackground},
		{"conversation", testDelayConversation}, {"nested", testNestedClaude}, {"denial", testDelayDenial}, {"Esc", testDelayEsc},
		{"Ctrl-C", testDelayCtrlC}, {"allowed", testDelayAllowed}, {"local dialogs", testDelayLocalDialogs}, {"stop hook", testDelayStopHook},
		{"stop blocked", testDelayStopBlocked},
		{"stops", testDelayStops}, {"escapes", testDelayEscapes},
	} {
		t.Run(measured.name, func(t *testing.T) {
			t.Parallel()
			two <- struct{}{}
			defer func() { <-two }()
			measured.test(t)
		})
	}
}

// answering waits until the API has begun to answer the newest request of a turn.
func (l *lab) answering(message string) {
	l.T.Helper()
	l.Asked(message, 0)
	l.See("esc to interrupt")
}

// testDelayEsc and testDelayCtrlC interrupt a turn at each of its stages. No hook
// reports an interrupt.
func testDelayEsc(t *testing.T)   { interruptAtEach(t, "Esc", "Escape") }
func testDelayCtrlC(t *testing.T) { interruptAtEach(t, "Ctrl-C", "Ctrl-c") }

func interruptAtEach(t *testing.T, name, key string) {
	c := newChronicle(t, Ready(), nil, "--allowedTools", "Bash(tail:*),Bash(sleep:*)")

	c.begin()
	c.send("MOCK: hang here")
	c.answering("MOCK: hang here")
	c.key(key)
	c.cut("MOCK: hang here", c.follows(name+" before any output", working(), resting()))
	c.clearDraft()

	c.begin()
	c.send("MOCK: ponder 60")
	c.answering("MOCK: ponder 60")
	time.Sleep(400 * time.Millisecond) // into the thought, which shows nothing
	c.key(key)
	c.cut("MOCK: ponder 60", c.follows(name+" while it thinks", working(), resting()))
	c.clearDraft()

	c.begin()
	c.send("MOCK: slow 100 100")
	c.See("line 003")
	c.key(key)
	c.cut("MOCK: slow 100 100", c.follows(name+" while it answers", working(), resting()))
	c.clearDraft()

	c.begin()
	command := "sleep 30"
	if newer(330) { // which refuses a sleep
		command = "tail -f sample.txt"
	}
	c.send("MOCK: bash " + command)
	c.See(command, "ctrl\\+b to run in background|Running")
	c.key(key)
	c.follows(name+" while a tool runs", working(), resting())
}

// cut checks by another clock, the API's, that a turn was cut off, and records how much
// later Berth emitted the end. That time includes Claude's own, so no bar applies to it.
func (c *chronicle) cut(message string, told []moment) {
	c.T.Helper()
	if len(told) == 0 {
		return
	}
	r := c.Asked(message, 0)
	for deadline := time.Now().Add(patient); r.Ended.IsZero() && time.Now().Before(deadline); r = c.API.Requests()[r.N-1] {
		time.Sleep(time.Millisecond)
	}
	delay := told[len(told)-1].Told.Sub(r.Ended)
	delays.add("cut off, by the API's log", "idle", delay)
	if !r.Left {
		c.T.Errorf("%s: the API did not see its client leave", message)
	}
}

// clearDraft empties the composer of a message that came back.
func (c *chronicle) clearDraft() {
	c.T.Helper()
	screen, err := c.Screen(c.Ctx)
	check(c.T, err)
	for draft := typed.FindString(screen); !empty.MatchString(screen); draft = typed.FindString(screen) {
		c.key("Ctrl-u") // a line of it
		screen, err = c.Until(c.Ctx, patient, "keeps the draft", func(s string) bool { return typed.FindString(s) != draft })
		check(c.T, err)
	}
	c.ready()
}

// testDelayStops ends many turns. The time runs from the moment that Claude executes its Stop hooks: a
// hook of the user's writes it. What an empty hook takes meanwhile shows how busy the machine is.
func testDelayStops(t *testing.T) {
	ends := filepath.Join(t.TempDir(), "ends")
	seed := Ready()
	seed.Hooks = map[string]string{"Stop": "date +%s%N >> " + ends}
	c := newChronicle(t, seed, nil)
	for i := range 25 * host.Soak() {
		start := time.Now()
		check(t, exec.Command("sh", "-c", "date +%s%N > /dev/null").Run())
		delays.add("an empty hook", "over", time.Since(start))
		c.begin()
		hooks := len(c.watch.heard())
		c.send(fmt.Sprint("MOCK: text turn ", i))
		c.waitFor("a turn's end", 2)
		got := c.watch.since(c.moments)
		data, err := os.ReadFile(ends)
		check(t, err)
		lines := strings.Fields(string(data))
		if tellMoments(got) != "working idle" || len(lines) != i+1 {
			t.Fatalf("turn %d: emitted %s; %d Stop hooks ran", i, tellCauses(got), len(lines))
		}
		nanos, err := strconv.ParseInt(lines[i], 10, 64)
		check(t, err)
		executed := time.Unix(0, nanos)
		delays.add("a turn ends, since its Stop hook was executed", "idle", got[1].Told.Sub(executed))
		for _, h := range c.watch.heard()[hooks:] {
			if h.Event == "Stop" {
				delays.add("of that, until its event is in watch", "hook", h.Told.Sub(executed))
			}
		}
		if stamps := c.truth.since(c.stamps); len(stamps) > 0 && stamps[len(stamps)-1].Status == "idle" {
			delays.add("of that, until Claude's file rests", "file", stamps[len(stamps)-1].Seen.Sub(executed))
		}
		c.ready()
	}
}

// testDelayEscapes interrupts many turns. The time runs from before the call that presses Esc, so it has that
// call's way through ssh and Claude's own time too. The lab's own pause before a key is over by then.
func testDelayEscapes(t *testing.T) {
	c := newChronicle(t, Ready(), nil)
	for i := range 10 * host.Soak() {
		c.begin()
		message := fmt.Sprint("MOCK: slow 100 ", 100+i)
		c.send(message)
		c.answering(message)
		c.beforeKey()
		start := time.Now()
		check(t, c.Press(c.Ctx, "Escape"))
		c.waitFor("Esc", 2)
		got := c.watch.since(c.moments)
		if tellMoments(got) != "working idle" {
			t.Fatalf("turn %d: emitted %s", i, tellCauses(got))
		}
		delays.add("Esc, since the call that pressed it", "idle", got[1].Told.Sub(start))
		c.cut(message, got)
		c.clearDraft()
	}
}

// testDelayDenial refuses what is asked. No hook reports a refusal.
func testDelayDenial(t *testing.T) {
	c := newChronicle(t, Ready(), nil)
	for _, way := range []struct{ name, message, shown, key string }{
		{"permission refused by No", "MOCK: bash touch a.txt", `\d\. No`, "No"},
		{"permission refused by Esc", "MOCK: bash touch b.txt", `\d\. No`, "Escape"},
		{"Esc on a question", "MOCK: ask", "Chat about this", "Escape"},
		{"Esc on several questions", "MOCK: ask-two", "☐ Size", "Escape"},
		{"Esc on a plan", "MOCK: plan", `3\. Tell Claude`, "Escape"},
	} {
		c.begin()
		c.send(way.message)
		c.See(way.shown)
		if way.key == "No" {
			way.key = c.option("No")
		}
		c.key(way.key)
		c.follows(way.name, working(), asking(), resting())
	}
}

// testDelayAllowed allows a call and answers a question: Claude works on, then is idle.
func testDelayAllowed(t *testing.T) {
	c := newChronicle(t, Ready(), nil)
	for _, message := range []string{"MOCK: bash touch allowed.txt && sleep 1", "MOCK: ask"} {
		c.begin()
		c.send(message)
		c.See(cancel)
		c.key("1")
		c.follows("allowed by 1", working(), asking(), working(), resting())
	}
	c.begin()
	c.send("MOCK: text a short answer")
	c.follows("a turn", working(), resting())
}

// testDelayError has the API fail in each way. Retries show as such while they
// last, the class is right, and an error is never emitted as idle.
func testDelayError(t *testing.T) {
	c := newChronicle(t, Ready(), map[string]string{"CLAUDE_CODE_MAX_RETRIES": "2"})
	amid := "other"
	if newer(330) {
		amid = "overloaded" // it says "Server error mid-response", and server_error
	}
	for _, failure := range []struct {
		scenario, class string
		retries         bool
	}{
		{"error 400", "invalid", false},
		{"error 401", "unauthorized", true},
		{"error 403", "unauthorized", false},
		{"error 429", "rate_limited", true},
		{"error 500", "overloaded", true},
		{"error 529", "overloaded", true},
		{"credit", "out_of_credits", false},
		{"mid-error", amid, false},
		{"drop", "network", true},
		{"refusal", "invalid", false},
	} {
		if failure.scenario == "refusal" && newer(330) {
			continue // it goes on by itself
		}
		c.begin()
		c.send("MOCK: " + failure.scenario)
		if failure.retries {
			c.retries(failure.scenario)
		}
		got := c.follows(failure.scenario, working(), failing())
		if n := len(got); n > 0 && (got[n-1].Failure == nil || got[n-1].Failure.Class != failure.class) {
			t.Errorf("%s: the failure is %+v, want the class %s", failure.scenario, got[n-1].Failure, failure.class)
		}
	}
	c.begin()
	c.send("MOCK: text all well again")
	c.follows("a turn after an error", working(), resting())
}

// retries waits for state to say that another attempt is to come.
func (c *chronicle) retries(name string) {
	c.T.Helper()
	c.waitFor(name, 1) // it works, and is not in the last error any more
	for len(c.watch.since(c.moments)) < 2 {
		out, err := c.Host.Call(c.Ctx, nil, "state", c.Name)
		check(c.T, err)
		var s struct {
			Activity *struct {
				Kind        string
				Attempt, Of int
			}
		}
		check(c.T, json.Unmarshal(out, &s))
		if a := s.Activity; a != nil && a.Kind == "retrying" && a.Attempt > 0 && a.Of >= a.Attempt {
			return
		}
	}
	c.T.Errorf("%s: no retry was emitted", name)
}
