//go:build agents

package claude

import (
	"fmt"
	"testing"
	"time"
)

// TestViewers has clients come and go while dialogs are answered and messages sent.
func TestViewers(t *testing.T) {
	l := newLab(t, Ready())
	l.ready()
	stop, done := make(chan struct{}), make(chan error, 1)
	attached := 0
	go func() {
		for {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			v, err := l.Host.Attach(l.Ctx, "lab", "--read-only")
			if err != nil {
				done <- err
				return
			}
			v.Close()
			attached++
		}
	}()
	for i := range 5 {
		message := fmt.Sprintf("MOCK: text answer %d", i)
		l.send(message)
		l.See(fmt.Sprintf("● answer %d", i))
		l.ready()
		l.once(message)
	}
	l.send("MOCK: bash touch watched.txt")
	l.See("touch watched.txt", proceed)
	l.key("1")
	l.Asked("MOCK: bash touch watched.txt", 1)
	close(stop)
	check(t, <-done)
	if attached < 3 {
		t.Errorf("only %d clients came", attached)
	}
	t.Logf("%d clients came and went", attached)
}

// TestServerKilled kills the server amid a turn and before a dialog's answer:
// the program goes on, and all is there again afterwards.
func TestServerKilled(t *testing.T) {
	l := newLab(t, Ready())
	l.ready()
	l.send("MOCK: slow 20 100")
	l.See("line 002")
	check(t, l.Host.Kill())
	check(t, l.Host.Start())
	l.See("line 020", "slow end")
	l.ready()

	l.send("MOCK: bash touch after.txt")
	l.See("touch after.txt", proceed)
	before, err := l.Screen(l.Ctx)
	check(t, err)
	check(t, l.Host.Kill())
	start := time.Now()
	check(t, l.Host.Start())
	after := l.See("touch after.txt", proceed)
	t.Logf("the screen is there again after %s", time.Since(start).Round(time.Millisecond))
	if before != after {
		t.Errorf("the screen differs:\n%s\n%s", before, after)
	}
	l.key("1")
	l.Asked("MOCK: bash touch after.txt", 1)
	if !l.Made("after.txt") {
		t.Error("allowed, and it did not run")
	}
	l.once("MOCK: slow 20 100")
	l.once("MOCK: bash touch after.txt")
}
