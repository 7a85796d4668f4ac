package sessions

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"berth/api"
	"berth/sessions/gates/gate"
	"berth/sessions/loop"
)

// TestTurnover: a caller in a loop of starts, messages and gates is refused when its share of
// the event log is used up, and regains its share with time. Calls that end or remove sessions
// still work, and so do the calls of others.
func TestTurnover(t *testing.T) {
	p := open(t)
	var ahead atomic.Int64 // offset of the clock; only the test moves it
	began := time.Now()
	clock := func() time.Time { return began.Add(time.Duration(ahead.Load())) }
	p.options.Now = clock
	p.reopen()
	eve, bob := tester, tester
	eve.Identity.Name, bob.Identity.Name = "eve", "bob"
	s := p.sh("one", "sleep 60")
	if wait := p.reg.turnover.take(eve.By(), eventsAtOnce, clock()); wait != 0 {
		t.Fatalf("the first call waits %s", wait)
	}
	calls := map[string]func(Actor) error{
		"new": func(by Actor) error {
			_, err := p.reg.New(t.Context(), Spec{Name: "two", Command: []string{"true"}, Cwd: t.TempDir()}, by)
			return err
		},
		"restart":   func(by Actor) error { return p.reg.Restart(t.Context(), s, by) },
		"gate":      func(by Actor) error { _, err := s.SetGate(t.Context(), by, gate.Config{}); return err },
		"gate open": func(by Actor) error { _, err := s.OpenGate(t.Context(), by); return err },
		"nudge": func(by Actor) error {
			_, err := s.Nudge(t.Context(), Claim{Actor: by}, Nudge{Text: "hello"})
			return err
		},
	}
	for name, call := range calls {
		if err := call(eve); codeOf(err) != api.CodeLimit || !strings.Contains(err.Error(), "eve has made too many starts") || !strings.Contains(err.Error(), "wait ") {
			t.Errorf("%s of a caller in a loop: %v", name, err)
		}
		if err := call(bob); codeOf(err) == api.CodeLimit {
			t.Errorf("%s of another caller: %v", name, err)
		}
	}
	ahead.Add(int64(eventsOfStart * eventEvery))
	if err := calls["restart"](eve); err != nil {
		t.Errorf("after a rest: %v", err)
	}
	if err := calls["gate"](eve); codeOf(err) != api.CodeLimit {
		t.Errorf("right after that: %v", err)
	}
	if err := <-s.End(t.Context(), eve, 0); err != nil {
		t.Errorf("kill of a caller in a loop: %v", err)
	}
	if _, err := p.reg.Remove(t.Context(), s, eve, false); err != nil {
		t.Errorf("rm of a caller in a loop: %v", err)
	}
	for i := range 10 * loop.IdentitiesKept { // callers with their whole share are forgotten
		ahead.Add(int64(time.Second))
		p.reg.turnover.take(By{Identity: fmt.Sprint(i)}, 1, clock())
	}
	if n := len(p.reg.turnover.callers); n > loop.IdentitiesKept+1 {
		t.Errorf("%d callers are kept", n)
	}
}
