//go:build agents

package claude

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// whenGone sends the time at which the process has gone, or is a zombie.
func whenGone(pid int) <-chan time.Time {
	at := make(chan time.Time, 1)
	go func() {
		defer close(at)
		for deadline := time.Now().Add(patient); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			_, rest, _ := strings.Cut(string(stat), ") ")
			if err != nil || strings.HasPrefix(rest, "Z") || strings.HasPrefix(rest, "X") {
				at <- time.Now()
				return
			}
		}
	}()
	return at
}

// ended is a step to exited, true from the moment that the process is gone.
func ended(gone <-chan time.Time) step {
	return step{state: "exited", at: func() time.Time { return <-gone }}
}

// twice presses a key and, when Claude has seen it, presses it again. Claude takes them for
// a double press only within a second or two. On a busy machine, calls through ssh can take
// longer. Claude then sees two single presses, and twice tries again.
func (c *chronicle) twice(key, seen string) {
	c.T.Helper()
	for range 5 {
		c.key(key)
		c.See(seen)
		c.key(key)
		deadline := time.Now().Add(3 * time.Second)
		for time.Now().Before(deadline) {
			if len(c.watch.since(c.moments)) > 0 {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// testDelayEnd ends Claude Code in each way and at each stage.
func testDelayEnd(t *testing.T) {
	c := newChronicle(t, Ready(), nil)
	first := true
	fresh := func() <-chan time.Time {
		if !first {
			c.begin()
			_, err := c.Host.Call(c.Ctx, nil, "restart", c.Name)
			check(t, err)
			c.waitFor("restart", 3) // restarting, starting, idle: the watch has them later than wait
			c.Is("idle")
		}
		first = false
		c.begin()
		pid := c.info().PID
		return whenGone(pid)
	}
	ends := func(code *int, signal string, crashed bool) {
		t.Helper()
		out, err := c.Host.Call(c.Ctx, nil, "state", c.Name)
		check(t, err)
		var s struct {
			Exit *struct {
				Code          *int
				Signal        string
				Crashed, Lost bool
			}
		}
		check(t, json.Unmarshal(out, &s))
		e := s.Exit
		if e == nil || (e.Code == nil) != (code == nil) || code != nil && *e.Code != *code || e.Signal != signal || e.Crashed != crashed || e.Lost {
			t.Errorf("the end is reported as %s", out)
		}
	}
	status := func(n int) *int { return &n }
	send := func(sig syscall.Signal) {
		t.Helper()
		pid := c.info().PID
		check(t, syscall.Kill(pid, sig))
	}

	gone := fresh()
	send(syscall.SIGKILL)
	c.follows("kill -9 at rest", ended(gone))
	ends(nil, "SIGKILL", true)

	gone = fresh()
	c.send("MOCK: slow 100 100")
	c.See("line 003")
	send(syscall.SIGKILL)
	c.follows("kill -9 at work", working(), ended(gone))
	ends(nil, "SIGKILL", true)

	gone = fresh()
	c.send("MOCK: bash touch killed.txt")
	c.See(proceed)
	c.waitFor("kill -9 at a prompt", 2) // on a busy machine the dialog is drawn before its event is emitted,
	c.claudeSays("waiting")             // and before Claude writes it down
	send(syscall.SIGKILL)
	c.follows("kill -9 at a prompt", working(), asking(), ended(gone))
	ends(nil, "SIGKILL", true)

	gone = fresh()
	c.send("MOCK: slow 100 100")
	c.See("line 003")
	send(syscall.SIGTERM)
	c.follows("SIGTERM at work", working(), ended(gone))
	ends(status(143), "", true)

	gone = fresh()
	c.send("/exit")
	c.follows("/exit", ended(gone))
	ends(status(0), "", false)

	gone = fresh()
	c.twice("Ctrl-d", "Press Ctrl-D again to exit")
	c.follows("Ctrl-D twice", ended(gone))
	ends(status(0), "", false)

	gone = fresh()
	c.twice("Ctrl-c", "Press Ctrl-C again to exit")
	c.follows("Ctrl-C twice", ended(gone))
	ends(status(0), "", false)
}
