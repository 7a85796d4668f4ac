package sessions

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"berth/agent"
	"berth/api"
)

func ended(st *Status) bool { return st.Now == agent.Exited && st.Exit != nil }

func codeOf(err error) api.Code {
	if err == nil {
		return ""
	}
	return api.AsError(err).Code
}

func TestNewRunsAndEnds(t *testing.T) {
	p := open(t)
	s := p.sh("one", `printf 'hello %s' "$BERTH_SESSION"; exit 3`)
	st := within(t, s, "the end", ended)
	if st.Exit.Code == nil || *st.Exit.Code != 3 || !st.Exit.Crashed || st.Exit.Lost {
		t.Errorf("exit %+v", st.Exit)
	}
	if got := screenText(t, s); got != "hello "+s.ID() {
		t.Errorf("screen %q", got)
	}
	p.counts(s.ID(), map[string]int{"session_created": 1, "exited": 1})
}

func TestKillIsNoCrash(t *testing.T) {
	p := open(t)
	s := p.sh("one", "sleep 600", func(s *Spec) { s.Restart = RestartAlways })
	for range 2 { // the second finds it ended
		if err := <-s.End(t.Context(), tester, time.Second); err != nil {
			t.Fatal(err)
		}
		st := s.Status()
		if !ended(st) || st.Exit.Crashed || st.Exit.Signal == "" {
			t.Errorf("state %s, exit %+v", st.Now, st.Exit)
		}
	}
	p.counts(s.ID(), map[string]int{"exited": 1, "restarted": 0})
}

func TestBadSpecsLeaveNothing(t *testing.T) {
	p := open(t)
	p.sh("taken", "sleep 600")
	narrow := tester
	narrow.Identity.Sessions = []string{"mine-*"}
	for name, c := range map[string]struct {
		by   Actor
		spec Spec
		code api.Code
	}{
		"name":         {tester, Spec{Name: "a/b"}, api.CodeBadRequest},
		"escape":       {tester, Spec{Name: "a\x1b"}, api.CodeBadRequest},
		"taken":        {tester, Spec{Name: "taken"}, api.CodeBadRequest},
		"no command":   {tester, Spec{Name: "x", Command: []string{"no-such-program"}}, api.CodeNotFound},
		"no exec":      {tester, Spec{Name: "x", Command: []string{"/etc/passwd"}}, api.CodeNotFound},
		"folder":       {tester, Spec{Name: "x", Cwd: "/no/such"}, api.CodeBadRequest},
		"relative":     {tester, Spec{Name: "x", Cwd: "tmp"}, api.CodeBadRequest},
		"NUL":          {tester, Spec{Name: "x", Command: []string{"sh", "a\x00b"}}, api.CodeBadRequest},
		"NUL in env":   {tester, Spec{Name: "x", Env: map[string]string{"A": "b\x00"}}, api.CodeBadRequest},
		"size":         {tester, Spec{Name: "x", Cols: 5000, Rows: 5}, api.CodeBadRequest},
		"policy":       {tester, Spec{Name: "x", SizePolicy: "huge"}, api.CodeBadRequest},
		"restart":      {tester, Spec{Name: "x", Restart: "often"}, api.CodeBadRequest},
		"ttl":          {tester, Spec{Name: "x", Limits: Limits{TTL: -1}}, api.CodeBadRequest},
		"tag":          {tester, Spec{Name: "x", Tags: []string{"a b"}}, api.CodeBadRequest},
		"agent":        {tester, Spec{Name: "x", Agent: "claude"}, api.CodeNoDriver},
		"right":        {narrow, Spec{Name: "x"}, api.CodeDenied},
		"made-up name": {narrow, Spec{}, api.CodeDenied},
	} {
		if _, err := p.reg.New(t.Context(), c.spec, c.by); codeOf(err) != c.code {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
	if got := len(p.reg.All()); got != 1 {
		t.Errorf("%d sessions", got)
	}
	entries, err := os.ReadDir(p.reg.sessionsDir())
	if err != nil || len(entries) != 1 {
		t.Errorf("%d folders, %v", len(entries), err)
	}
	p.sh("x", "sleep 600") // the name is free
}

// slow is an agent whose start takes as long as the test wants.
type slow struct {
	diary
	goOn chan struct{}
}

func (d slow) Launch(s agent.Start) (agent.Launch, error) {
	<-d.goOn
	return d.diary.Launch(s)
}

// TestStartHoldsNobodyUp: what is read before a program is started may lie on a
// file system that does not answer. Callers are distinguished all the same.
func TestStartHoldsNobodyUp(t *testing.T) {
	p := open(t)
	p.close()
	goOn := make(chan struct{})
	p.options.Drivers = map[string]agent.Driver{"slow": slow{diary{dir: t.TempDir()}, goOn}}
	p.open()
	other := p.sh("other", "sleep 600")
	quick := func(what string) {
		t.Helper()
		known := make(chan int, 1)
		go func() { known <- len(p.reg.Holders()) }()
		select {
		case n := <-known:
			if n < 1 {
				t.Errorf("%s: %d holders", what, n)
			}
		case <-time.After(patience / 2):
			close(goOn) // for good
			<-known
			t.Fatalf("%s: no caller is recognized", what)
		}
	}
	made := make(chan error, 1)
	go func() {
		_, err := p.reg.New(context.Background(), Spec{Name: "one", Agent: "slow", Command: []string{"sleep", "600"}}, tester)
		made <- err
	}()
	for !p.reg.reserved("one") {
		time.Sleep(time.Millisecond)
	}
	quick("a new session")
	goOn <- struct{}{}
	if err := <-made; err != nil {
		t.Fatal(err)
	}
	s := p.find("one")
	restarted := make(chan error, 1)
	go func() { restarted <- p.reg.Restart(context.Background(), s, tester) }()
	within(t, s, "its start", func(st *Status) bool { return st.Now == agent.Restarting })
	quick("a restart")
	goOn <- struct{}{}
	if err := <-restarted; err != nil {
		t.Fatal(err)
	}
	if !other.Status().Running() {
		t.Error("the other session has ended")
	}
}

// reserved says whether the name is taken, be it by a session that is being made.
func (r *Registry) reserved(name string) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	_, taken := r.names[name]
	return taken
}

func TestRestartGoesOnInTheSameSession(t *testing.T) {
	p := open(t)
	s := p.sh("one", "echo run $$; sleep 600")
	shows(t, s, "run ")
	before := s.Status()
	if err := p.reg.Restart(t.Context(), s, tester); err != nil {
		t.Fatal(err)
	}
	after := within(t, s, "a new program", func(st *Status) bool { return st.PID != before.PID && st.Exit == nil })
	within(t, s, "its output", func(st *Status) bool { return st.Offset > before.Offset })
	if after.ID != before.ID || after.HolderPID == before.HolderPID {
		t.Errorf("before %+v, after %+v", before, after)
	}
	if got := strings.Count(screenText(t, s), "run "); got != 2 {
		t.Errorf("the screen shows %d runs", got)
	}
	p.counts(s.ID(), map[string]int{"session_created": 1, "exited": 1, "restarted": 1})

	// Of an ended one too, and again when the command is gone.
	<-s.End(t.Context(), tester, 0)
	if err := p.reg.Restart(t.Context(), s, tester); err != nil {
		t.Fatal(err)
	}
	if st := s.Status(); st.Exit != nil {
		t.Errorf("exit %+v after a restart", st.Exit)
	}
}

func TestRestartThatCannotStart(t *testing.T) {
	p := open(t)
	program := p.options.Environment.Home + "/program"
	if err := os.WriteFile(program, []byte("#!/bin/sh\nsleep 600\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := p.sh("one", "", func(s *Spec) { s.Command = []string{program} })
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	if err := p.reg.Restart(t.Context(), s, tester); codeOf(err) != api.CodeNotFound {
		t.Errorf("restart: %v", err)
	}
	if st := within(t, s, "the end", ended); st.Cause != "process:start-failed" {
		t.Errorf("cause %s", st.Cause)
	}
}

func TestAutomaticRestart(t *testing.T) {
	p := open(t)
	count := p.options.Environment.Home + "/count"
	s := p.sh("one", `echo >>`+count+`; test $(wc -l <`+count+`) -ge 2 && exit 0; exit 1`, func(s *Spec) { s.Restart = RestartOnFailure })
	within(t, s, "the second end", func(st *Status) bool { return ended(st) && *st.Exit.Code == 0 })
	p.counts(s.ID(), map[string]int{"exited": 2, "restarted": 1})
}

// A kill while it waits for its next start, or starts, is the end of it.
func TestKillDuringBackOff(t *testing.T) {
	p := open(t)
	s := p.sh("one", "exit 1", func(s *Spec) { s.Restart = RestartAlways })
	within(t, s, "the back-off", func(st *Status) bool { return st.Now == agent.Restarting })
	kept := checkpointOf(t, s)
	for until := time.Now().Add(patience); !bytes.Contains(kept, []byte(`"exit":{`)); kept = checkpointOf(t, s) { // it is written after the state is known
		if time.Now().After(until) {
			t.Fatalf("the checkpoint has no exit: %s", kept)
		}
		time.Sleep(time.Millisecond)
	}
	if err := <-s.End(t.Context(), tester, 0); err != nil {
		t.Fatal(err)
	}
	p.crash(s, kept) // also for the next server
	s = p.find("one")
	if err := s.do(t.Context(), func(*core) {}); err != nil {
		t.Fatal(err)
	}
	if st := s.Status(); st.Now != agent.Exited {
		t.Errorf("state %s", st.Now)
	}
	if _, err := p.reg.Remove(t.Context(), s, tester, false); err != nil {
		t.Fatal(err)
	}
}

// The back-off outlives the server, and its end is emitted once.
func TestBackOffOverAServersEnd(t *testing.T) {
	p := open(t)
	count := p.options.Environment.Home + "/count"
	s := p.sh("one", `echo >>`+count+`; test $(wc -l <`+count+`) -ge 2 && exec sleep 600; exit 1`, func(s *Spec) { s.Restart = RestartAlways })
	within(t, s, "the back-off", func(st *Status) bool { return st.Now == agent.Restarting })
	p.reopen()
	s = p.find("one")
	within(t, s, "the next run", func(st *Status) bool { return st.Exit == nil && st.PID != 0 })
	if err := s.do(t.Context(), func(*core) {}); err != nil { // one turn: it is on record
		t.Fatal(err)
	}
	p.counts(s.ID(), map[string]int{"exited": 1, "restarted": 1})
}

func TestRenameRemoveAndRetention(t *testing.T) {
	p := open(t)
	p.options.Retention = Retention{Keep: 1}
	p.reopen() // the registry reads its options in the background
	s := p.sh("one", "sleep 600")
	if err := p.reg.Rename(t.Context(), s, "two", tester); err != nil {
		t.Fatal(err)
	}
	if _, there := p.reg.Find("one"); there || p.find("two") != s {
		t.Error("the old name is kept, or the new one does not")
	}
	if _, err := p.reg.Remove(t.Context(), s, tester, false); codeOf(err) != api.CodeBadRequest {
		t.Errorf("rm of a running one: %v", err)
	}
	<-s.End(t.Context(), tester, 0)
	if _, err := p.reg.Remove(t.Context(), s, tester, false); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.dir); !os.IsNotExist(err) {
		t.Errorf("its folder: %v", err)
	}
	if _, err := s.Snapshot(t.Context(), 0); codeOf(err) != api.CodeNotFound {
		t.Errorf("a look at a removed one: %v", err)
	}
	p.counts(s.ID(), map[string]int{"renamed": 1, "session_removed": 1})
	p.sh("two", "exit 0")

	// Retention takes what ended too long ago, by the registry's clock.
	old := p.find("two")
	within(t, old, "the end", ended)
	young := p.sh("young", "exit 0")
	within(t, young, "the end", ended)
	p.reg.removeOld(t.Context())
	if _, there := p.reg.Find("two"); there {
		t.Error("the oldest ended one is still there")
	}
	p.find("young")
}

func TestConcurrentRenamesLeaveNoName(t *testing.T) {
	p := open(t)
	s := p.sh("start", "sleep 600")
	done := make(chan error)
	for _, to := range []string{"a", "b", "c", "d"} {
		go func() { done <- p.reg.Rename(context.Background(), s, to, tester) }()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	p.reg.mu.RLock()
	defer p.reg.mu.RUnlock()
	if len(p.reg.names) != 1 || p.reg.names[s.Status().Name] != s {
		t.Errorf("names %v, its own is %s", p.reg.names, s.Status().Name)
	}
}

func TestLimitsEndASession(t *testing.T) {
	p := open(t)
	s := p.sh("one", "sleep 600", func(s *Spec) { s.Limits.TTL = time.Millisecond })
	within(t, s, "the end", ended)
	p.counts(s.ID(), map[string]int{"session_limit": 1, "exited": 1})
}

func TestCallsWhenTheServerGoesDown(t *testing.T) {
	p := open(t)
	s := p.sh("one", "trap '' HUP; sleep 600")
	m, err := s.Join(t.Context(), Visitor{Actor: tester, Terminal: true, Cols: 30, Rows: 5})
	if err != nil {
		t.Fatal(err)
	}
	killed := s.End(t.Context(), tester, time.Minute)
	p.close()
	select {
	case err := <-killed:
		if !errors.Is(err, errStopped) {
			t.Errorf("kill: %v", err)
		}
	case <-time.After(patience):
		t.Fatal("a kill waits for a loop that has ended")
	}
	if _, err := s.Snapshot(t.Context(), 0); !errors.Is(err, errStopped) {
		t.Errorf("snapshot: %v", err)
	}
	m.Window(20, 5)
	m.Unfollow(nil)
	m.Leave()
	if _, err := p.reg.New(t.Context(), Spec{Name: "late"}, tester); !errors.Is(err, errStopped) {
		t.Errorf("new: %v", err)
	}
	p.open()
}

func TestSecretsStayOut(t *testing.T) {
	p := open(t)
	p.options.Environment.Redact = func(env map[string]string) map[string]string {
		out := map[string]string{}
		for k := range env {
			out[k] = "hidden"
		}
		return out
	}
	p.reopen()
	s := p.sh("one", "sleep 600", func(s *Spec) { s.Env = map[string]string{"API_KEY": "hunter2"} })
	if got := s.Info(true).Env["API_KEY"]; got != "hidden" {
		t.Errorf("info shows %q", got)
	}
	for _, lines := range p.log(s.ID()) {
		for _, l := range lines {
			if strings.Contains(string(l.Raw), "hunter2") {
				t.Errorf("the event %s", l.Raw)
			}
		}
	}
	info, err := os.Stat(s.dir + "/" + specFile)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the spec's file: %v %v", info.Mode(), err)
	}
}

func TestSignal(t *testing.T) {
	p := open(t)
	s := p.sh("one", `trap 'echo got it' USR1; echo ready; while :; do sleep 0.01; done`)
	shows(t, s, "ready")
	denied := Claim{Actor: tester, Allowed: func() error { return api.Errorf(api.CodeDenied, "no") }}
	if err := s.Signal(t.Context(), denied, syscall.SIGUSR1); codeOf(err) != api.CodeDenied {
		t.Errorf("denied: %v", err)
	}
	if err := s.Signal(t.Context(), Claim{Actor: tester, Verb: "signal"}, syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	shows(t, s, "got it")
	p.counts(s.ID(), map[string]int{"signal": 1})
}
