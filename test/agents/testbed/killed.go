package testbed

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// settles is a little longer than a server takes to judge an answer of the server before it.
const settles = 8 * time.Second

// killedInAnAnswer kills the server at several moments of an answer. The call runs once, whichever server gave the
// answer, and an answer that didn't arrive can be given again.
func killedInAnAnswer(l *Lab, a *Agent) {
	for i, moment := range []time.Duration{0, 20 * time.Millisecond, 100 * time.Millisecond, 350 * time.Millisecond, time.Second} {
		file := fmt.Sprintf("answered-%d.txt", i)
		p := a.asks(l, a.Channel, a.command("echo one >> "+file))
		before := len(l.Events("respond"))
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = l.Host.Call(l.Ctx, nil, "respond", l.Name, "--prompt", p.ID, "accept") // it fails when the server is killed
		}()
		time.Sleep(moment) // the moment of the kill, and no wait for anything
		Check(l.T, l.Host.Kill())
		<-done
		Check(l.T, l.Host.Start())
		again, until := false, time.Now().Add(settles)
		l.Poll(func() bool {
			s := l.Said()
			again = s.State == "prompt" && time.Now().After(until)
			return again || s.State == "idle"
		}, func() string { return "it neither asks nor rests: " + string(l.Call("state", l.Name)) })
		if again {
			// A hook waits for the next server for a bounded time, and then the dialog comes.
			now := l.PromptUntil("answerable", func(p Shown) bool { return a.HookHides && p.Channel == "hook" || p.Ready && p.OnScreen })
			if now.Input != p.Input {
				l.T.Fatalf("the prompt was %+v and is %+v", p, now)
			}
			l.Respond(now.Channel, "accepted", "accept")
		}
		a.rests(l)
		given := l.Events("respond")[before:]
		ran, err := os.ReadFile(filepath.Join(l.Workspace, file))
		Check(l.T, err)
		l.T.Logf("killed %v after the call: asked again %v, %d answers reported", moment, again, len(given))
		if string(ran) != "one\n" || len(given) > 1 && !again || len(given) > 2 {
			l.T.Errorf("killed %v after the call: it ran as %q, with the answers %+v", moment, ran, given)
		}
		stale(l, p.ID)
	}
	l.Confirmed("MOCK: text and on", "MOCK: text and on")
}
