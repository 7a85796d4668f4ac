//go:build agents

package claude

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// gets waits until the model has a message, and checks that it has it once.
func (l *lab) gets(message string) {
	l.T.Helper()
	l.Asked(message, 0)
	l.Is("idle")
	l.once(message)
}

// empties waits until no message is queued.
func (l *lab) empties() {
	l.T.Helper()
	l.Poll(func() bool {
		var list []any
		check(l.T, json.Unmarshal(l.Call("queue", l.Name), &list))
		return len(list) == 0
	}, func() string { return "a message is kept in its queue" })
}

// TestFirstMessage: the agent gets the exact first message when it is ready, after dialogs
// that Berth answers and one that a person answers later.
func TestFirstMessage(t *testing.T) {
	l := newStartLab(t, Seed{KeyApproved: true}, nil)
	message := "MOCK: text the first\nand a second line, with $HOME and \"quotes\" and 'more'"
	l.start("first", nil, []string{"--prompt", message})
	l.asksFor("trust")
	if n := l.API.Arrivals(message); n != 0 {
		t.Errorf("it arrived %d times before the agent was ready", n)
	}
	l.Respond("keys", "accepted", "accept")
	l.gets(message)
	l.empties()
	nudges := l.events("nudge")
	if len(nudges) != 1 || nudges[0]["verdict"] != "confirmed" {
		t.Errorf("its delivery is reported as %v", nudges)
	}
	l.Call("restart", l.Name)
	l.See("❯.MOCK: text the first") // its answer may be missing, see turn
	l.Is("idle")
	l.once(message)
}

// TestFirstMessageIsNoCommand: a message is a message.
func TestFirstMessageIsNoCommand(t *testing.T) {
	l := newStartLab(t, Ready(), nil)
	l.start("bang", nil, []string{"--prompt", "!touch ran.txt"})
	l.Asked(shield+"!touch ran.txt", 0)
	l.Is("idle")
	if l.Made("ran.txt") {
		t.Error("it ran as a command")
	}
}

// TestFirstMessageOfAFork goes to the fork alone.
func TestFirstMessageOfAFork(t *testing.T) {
	l := newStartLab(t, Ready(), nil)
	l.start("one", nil, []string{"--prompt", "MOCK: text from one"})
	l.gets("MOCK: text from one")
	l.Call("fork", "one", "two", "--prompt", "MOCK: text from two")
	two := l.with("two")
	two.gets("MOCK: text from two")
	two.See("● from two")
	if !strings.Contains(string(l.Asked("MOCK: text from two", 0).Body), "from one") {
		t.Error("the fork does not know what was said before")
	}
	l.once("MOCK: text from one")
}

// TestFirstMessageWithoutHooks has only the screen and the other sources.
func TestFirstMessageWithoutHooks(t *testing.T) {
	l := newStartLab(t, Ready(), nil)
	l.start("none", nil, []string{"--isolate", "none", "--prompt", "MOCK: text unheard"})
	l.gets("MOCK: text unheard")
	l.empties()
}

// TestFirstMessageServerKilled kills the server at several moments around the delivery.
// The message arrives at most once.
func TestFirstMessageServerKilled(t *testing.T) {
	l := newStartLab(t, Ready(), nil)
	for i, after := range []time.Duration{0, 300 * time.Millisecond, 500 * time.Millisecond, 700 * time.Millisecond, 900 * time.Millisecond, 1100 * time.Millisecond} {
		name, message := fmt.Sprintf("k%d", i), fmt.Sprintf("MOCK: text message %d", i)
		l.start(name, nil, []string{"--prompt", message})
		time.Sleep(after) // the moment is what is tried
		check(t, l.Host.Kill())
		check(t, l.Host.Start())
		s := l.with(name)
		s.empties()
		verdicts := []string{}
		for _, e := range s.events("nudge") {
			verdicts = append(verdicts, fmt.Sprint(e["verdict"]))
		}
		if slices.Contains(verdicts, "confirmed") {
			s.gets(message)
		} else if n := l.API.Arrivals(message); n > 1 || !slices.Contains(verdicts, "unconfirmed") {
			t.Errorf("killed after %s: it arrived %d times, reported as %v", after, n, verdicts)
		}
		t.Logf("killed after %s: %v", after, verdicts)
		l.Call("kill", name)
	}
}

// TestFirstMessageWhileSomebodyTypes: a person types from the start, before there is a
// composer. The first message is never sent together with their draft. It waits while the
// draft is in the composer, and arrives once.
func TestFirstMessageWhileSomebodyTypes(t *testing.T) {
	l := newStartLab(t, Ready(), nil)
	l.start("typed", nil, []string{"--prompt", "MOCK: text first of all"})
	for range 12 {
		l.Call("keys", l.Name, "--wait-lock", "20s", "k") // the first message may be about to be typed
		l.pause(150)
	}
	// Not wait, which waits for the first message too.
	l.Poll(func() bool { return l.Said().State == "idle" }, func() string { return fmt.Sprintf("it is %+v", l.Said()) })
	l.pause(4000) // it might be sent in this time
	for _, r := range l.API.Requests() {
		if r.Prompt != "" && r.Prompt != "MOCK: text first of all" {
			t.Fatalf("sent: %q", r.Prompt)
		}
	}
	screen, err := l.Screen(l.Ctx)
	check(t, err)
	t.Logf("arrived %d times; the composer:\n%s", l.API.Arrivals("MOCK: text first of all"), screen)
	if strings.Contains(screen, "kMOCK") || strings.Contains(screen, "allk") {
		t.Error("what was typed and the message stand there together")
	}
	l.Poll(func() bool {
		if empty.MatchString(screen) {
			return true
		}
		l.Call("keys", l.Name, "--wait-lock", "20s", "Ctrl-u")
		l.pause(300)
		screen, err = l.Screen(l.Ctx)
		check(t, err)
		return empty.MatchString(screen)
	}, func() string { return "the composer is not empty" })
	l.arrived("MOCK: text first of all", 1)
}
