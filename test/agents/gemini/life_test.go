//go:build agents

package gemini

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestServerKilledAtAPrompt: the same prompt is there afterwards, by the same id,
// and is answered once.
func TestServerKilledAtAPrompt(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	before := l.asks("MOCK: shell touch one.txt", "permission")
	check(t, l.Host.Kill())
	check(t, l.Host.Start())
	l.Is("prompt")
	after := l.promptUntil("on the screen", func(p shown) bool { return p.Ready && p.OnScreen })
	if after.ID != before.ID || after.Input != "touch one.txt" {
		t.Fatalf("the prompt was %+v and is %+v", before, after)
	}
	l.respond("accepted", "accept", "--prompt", after.ID)
	l.refused("STALE_PROMPT", "accept", "--prompt", after.ID)
	l.Is("idle")
	if !l.Made("one.txt") {
		t.Error("allowed, and it did not run")
	}
	l.confirmed("MOCK: text and on", "MOCK: text and on")
}

// TestInterrupt ends a turn, and presses nothing at rest or at a prompt.
func TestInterrupt(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	var done struct {
		Delivered, Confirmed bool
		State                string
	}
	if status := l.verb(&done, nil, "interrupt", l.Name); status != 0 || done.Delivered {
		t.Errorf("at rest: %d %+v", status, done)
	}
	if n := l.nudge("MOCK: slow 80 200"); n.status != 0 {
		t.Fatalf("%+v %+v", n, n.Error)
	}
	l.See("line 002")
	if status := l.verb(&done, nil, "interrupt", l.Name); status != 0 || !done.Delivered || !done.Confirmed || done.State != "idle" {
		t.Errorf("at work: %d %+v", status, done)
	}
	l.confirmed("and on", "and on")
	l.asks("MOCK: shell touch one.txt", "permission")
	if status := l.verb(&done, nil, "interrupt", l.Name); status != 5 {
		t.Errorf("at a prompt: %d", status)
	}
	l.respond("denied", "deny")
	l.Is("idle")
}

// TestPersonFirst: somebody at the terminal answers first; the answer of the verb
// is refused, or told as theirs, and presses nothing.
func TestPersonFirst(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	p := l.asks("MOCK: shell touch one.txt", "permission")
	l.listens()
	l.key("3")
	if r, status := l.try("accept", "--prompt", p.ID); status != 6 || r.Confirmed {
		t.Errorf("status %d, %+v %+v", status, r, r.Error)
	}
	l.Is("idle")
	if l.Made("one.txt") {
		t.Error("refused, and it ran")
	}
	l.See(empty) // no key was left in the composer
}

// TestRestart takes the conversation up, also when nothing was said in it, and
// one that crashed.
func TestRestart(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	_, err := l.Host.Call(l.Ctx, nil, "restart", l.Name) // the conversation is still empty
	check(t, err)
	l.Is("idle")
	l.confirmed("MOCK: text remember the lab", "MOCK: text remember the lab")
	_, err = l.Host.Call(l.Ctx, nil, "restart", l.Name)
	check(t, err)
	l.Is("idle")
	l.confirmed("MOCK: text and now", "MOCK: text and now")
	l.ModelGot("MOCK: text and now", "remember the lab")
}

// TestEnds: it ends by its own command, and by kill, which leaves no process.
func TestEnds(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	itself := 0 // what it runs for a moment at its start, a ps, is another
	for _, command := range l.processes() {
		if strings.Contains(command, "/gemini ") {
			itself++
		}
	}
	if itself != 1 {
		t.Errorf("it runs as %d processes: %v", itself, l.processes())
	}
	if n := l.nudge("/quit", "--command"); n.status != 0 {
		t.Fatalf("%+v %+v", n, n.Error)
	}
	if code, err := l.Exited(l.Ctx, patient); err != nil || code != 0 {
		t.Errorf("it ended with %d, %v", code, err)
	}
	_, err := l.Host.Call(l.Ctx, nil, "restart", l.Name)
	check(t, err)
	l.Is("idle")
	l.asks("MOCK: shell sleep 300", "permission")
	l.respond("accepted", "accept")
	l.Is("working")
	called := time.Now()
	_, err = l.Host.Call(l.Ctx, nil, "kill", l.Name)
	check(t, err)
	started := time.Now()
	for len(l.processes()) > 0 && time.Since(started) < 5*time.Second {
		time.Sleep(50 * time.Millisecond)
	}
	if pids := l.processes(); len(pids) > 0 {
		t.Errorf("5 s after kill there are %v", pids)
	}
	t.Logf("kill took %s, and after %s more all were gone", started.Sub(called).Round(10*time.Millisecond), time.Since(started).Round(10*time.Millisecond))
}

// processes are those that were started with the session's environment, but for
// the holder.
func (l *lab) processes() (found []string) {
	l.T.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	check(l.T, err)
	for _, name := range all {
		env, err := os.ReadFile(name)
		if err != nil || !strings.Contains(string(env), "\x00HOME="+l.home.Dir+"\x00") {
			continue // it has ended, or is another's
		}
		line, err := os.ReadFile(filepath.Join(filepath.Dir(name), "cmdline"))
		if words := strings.ReplaceAll(string(line), "\x00", " "); err == nil && words != "" {
			found = append(found, words)
		}
	}
	return found
}

// TestGate holds it back from the end of its turn as often as the cap says, and
// tells it something at the beginning of a conversation.
func TestGate(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	_, err := l.Host.Call(l.Ctx, nil, "start-context", l.Name, "any", "Say hello to <the> lab.")
	check(t, err)
	_, err = l.Host.Call(l.Ctx, nil, "restart", l.Name)
	check(t, err)
	l.Is("idle")
	_, err = l.Host.Call(l.Ctx, nil, "gate", l.Name, "--cap", "2", "gate", "Not yet: run the tests.")
	check(t, err)
	n := l.nudge("MOCK: text done", "--wait", "--timeout", "60s")
	if n.status != 0 || n.State == nil || *n.State != "idle" {
		t.Fatalf("%+v %+v", n, n.Error)
	}
	l.ModelGot("MOCK: text done", "Say hello to &lt;the&gt; lab.")
	if n := l.API.Arrivals("Not yet: run the tests."); n != 2 {
		t.Errorf("it was held back %d times", n)
	}
	_, err = l.Host.Call(l.Ctx, nil, "gate", l.Name, "allow")
	check(t, err)
	l.confirmed("MOCK: text at last", "MOCK: text at last")
}
