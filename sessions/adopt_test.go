package sessions

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"berth/agent"
	"berth/api"
	"berth/sessions/hold"
	"berth/sessions/lease"
	"berth/sessions/loop"
	"berth/sessions/track"
)

// What was true before the server's end is true after it, and is emitted once.
func TestAdoptRunningSession(t *testing.T) {
	p := open(t)
	s := p.sh("one", `printf 'before\n'; read x; printf 'while %s\n' "$x"; read y; printf 'after %s\n' "$y"; sleep 600`)
	shows(t, s, "before")
	claim := Claim{Actor: tester, Verb: "input"}
	locked, err := s.Lock(t.Context(), claim, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	kept := checkpointOf(t, s)
	claim.Lease = locked.Generation
	if err := s.Deliver(t.Context(), claim, []byte("typed"), []byte("\r")); err != nil {
		t.Fatal(err)
	}
	shows(t, s, "while typed")
	if err := s.Resize(t.Context(), claim, 50, 7); err != nil {
		t.Fatal(err)
	}
	screen, status := screenText(t, s), s.Status()

	p.crash(s, kept)
	s = p.find("one")
	shows(t, s, "while typed")
	if got := screenText(t, s); got != screen {
		t.Errorf("screen\n%s\nwas\n%s", got, screen)
	}
	got := within(t, s, "the size", func(st *Status) bool { return st.Cols == 50 && st.Rows == 7 })
	if got.PID != status.PID || got.HolderPID != status.HolderPID || got.Offset != status.Offset || !got.Started.Round(0).Equal(status.Started.Round(0)) {
		t.Errorf("status %+v, was %+v", got, status)
	}
	if got.Writer == nil || got.Writer.Generation != locked.Generation {
		t.Errorf("the lock is %+v, was %+v", got.Writer, locked)
	}
	if err := s.Deliver(t.Context(), Claim{Actor: tester, Verb: "input"}, []byte("no")); codeOf(err) != api.CodeWriterBusy {
		t.Errorf("input beside the lock: %v", err)
	}
	if err := s.Deliver(t.Context(), claim, []byte("again\r")); err != nil {
		t.Fatal(err)
	}
	shows(t, s, "after again")
	p.counts(s.ID(), map[string]int{"session_created": 1, "input": 3, "resize": 1, "exited": 0})
}

// A program that ended while no server was there has ended once, with its
// last output, whatever the checkpoint knew.
func TestAdoptWhatEndedMeanwhile(t *testing.T) {
	p := open(t)
	s := p.sh("one", `echo first; read x; echo last; exit 7`)
	shows(t, s, "first")
	kept := checkpointOf(t, s)
	p.close()
	link, err := hold.Dial(t.Context(), s.dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := link.Input(t.Context(), []byte("\r"), nil); err != nil {
		t.Fatal(err)
	}
	<-link.Done()
	link.Close()
	p.open()
	s = p.find("one")
	for range 3 { // and again, with the old checkpoint each time
		st := within(t, s, "the end", ended)
		if *st.Exit.Code != 7 || st.Exit.Lost {
			t.Errorf("exit %+v", st.Exit)
		}
		shows(t, s, "last")
		p.crash(s, kept)
		s = p.find("one")
	}
	p.counts(s.ID(), map[string]int{"session_created": 1, "exited": 1, "restarted": 0})
}

// An end that was asked for isn't a crash for the next server either, and does
// not start the program again.
func TestKillOverAServersEnd(t *testing.T) {
	p := open(t)
	s := p.sh("one", "sleep 600", func(s *Spec) { s.Restart = RestartAlways })
	kept := checkpointOf(t, s)
	if err := <-s.End(t.Context(), tester, 0); err != nil {
		t.Fatal(err)
	}
	p.crash(s, kept)
	s = p.find("one")
	if st := within(t, s, "the end", ended); st.Exit.Crashed {
		t.Errorf("exit %+v", st.Exit)
	}
	p.counts(s.ID(), map[string]int{"exited": 1, "restarted": 0})
}

// Restarts after the checkpoint are emitted once, and the state is the last one.
func TestRestartOverAServersEnd(t *testing.T) {
	p := open(t)
	s := p.sh("one", "echo run; sleep 600")
	shows(t, s, "run")
	kept := checkpointOf(t, s)
	if err := p.reg.Restart(t.Context(), s, tester); err != nil {
		t.Fatal(err)
	}
	pid := s.Status().PID
	within(t, s, "the state", func(st *Status) bool { return st.Now == agent.Unknown })
	changes := len(p.log(s.ID())["state_change"])
	p.crash(s, kept)
	s = p.find("one")
	if st := within(t, s, "the program", func(st *Status) bool { return st.Exit == nil && st.PID == pid }); st.Now != agent.Unknown {
		t.Errorf("state %s", st.Now)
	}
	p.counts(s.ID(), map[string]int{"exited": 1, "restarted": 1, "state_change": changes})
}

// A holder that was killed leaves a lost program, which is emitted once.
func TestLostHolder(t *testing.T) {
	p := open(t)
	s := p.sh("one", "echo here; sleep 600")
	shows(t, s, "here")
	kept := checkpointOf(t, s)
	if err := syscall.Kill(s.Status().HolderPID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if st := within(t, s, "the end", ended); !st.Exit.Lost {
			t.Errorf("exit %+v", st.Exit)
		}
		p.crash(s, kept)
		s = p.find("one")
	}
	p.counts(s.ID(), map[string]int{"exited": 1})
	shows(t, s, "here")
	if err := p.reg.Restart(t.Context(), s, tester); err != nil { // which takes its socket over
		t.Fatal(err)
	}
}

// TestUnwrittenJournal: a full disk takes no records and no output, and the holder that keeps them is killed. The next program's records
// and output have other numbers, and none of them counts as one that was read before.
func TestUnwrittenJournal(t *testing.T) {
	p := open(t)
	s := p.sh("one", "echo here; sleep 600")
	shows(t, s, "here")
	if err := s.Resize(t.Context(), Claim{Actor: tester, Verb: "resize"}, 50, 20); err != nil {
		t.Fatal(err)
	}
	record, offset := reached(t, s)
	if err := syscall.Kill(s.Status().HolderPID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	within(t, s, "the end", ended)
	for _, half := range []string{"control", "output"} {
		files, err := filepath.Glob(filepath.Join(s.dir, half, "*"))
		if err != nil || len(files) == 0 {
			t.Fatal(half, files, err)
		}
		for _, file := range files {
			if err := os.Truncate(file, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := p.reg.Restart(t.Context(), s, tester); err != nil {
		t.Fatal(err)
	}
	within(t, s, "the next program", (*Status).Running)
	shows(t, s, "here")
	p.counts(s.ID(), map[string]int{"exited": 1, "restarted": 1})
	if err := hold.ReadControl(s.dir, 0, func(r hold.Record) error {
		if r.N <= record || r.Offset < offset {
			t.Errorf("record %d at %d after record %d at %d", r.N, r.Offset, record, offset)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// reached is how far the session's journal was read.
func reached(t *testing.T, s *Session) (record uint64, offset int64) {
	t.Helper()
	if err := s.do(t.Context(), func(c *core) { record, offset = c.kernel.Reached() }); err != nil {
		t.Fatal(err)
	}
	return record, offset
}

// Keystrokes become one event a burst, none is lost after a checkpoint, and a
// program that does not answer keeps none of them back.
func TestTypingIsToldInBursts(t *testing.T) {
	p := open(t)
	s := p.sh("one", `stty -echo; echo ready; cat >/dev/null`)
	shows(t, s, "ready")
	m, err := s.Join(t.Context(), Visitor{Actor: tester, Terminal: true, Cols: 40, Rows: 6})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { m.Leave() }()
	for range 5 {
		if err := m.Type(t.Context(), []byte("ab")); err != nil {
			t.Fatal(err)
		}
	}
	changed, stop := s.Subscribe()
	defer stop()
	for deadline := time.After(patience); len(p.log(s.ID())["input"]) == 0; {
		select {
		case <-changed:
		case <-deadline:
			t.Fatal("keystrokes that nothing echoes are not reported")
		}
	}
	lines := p.log(s.ID())["input"]
	if len(lines) != 1 || !strings.Contains(string(lines[0].Raw), `"bytes":10`) {
		t.Errorf("reported %d times: %s", len(lines), lines[0].Raw)
	}

	if err := m.Type(t.Context(), []byte("abc")); err != nil {
		t.Fatal(err)
	}
	p.reopen() // a checkpoint is written with the burst still open
	s = p.find("one")
	within(t, s, "the program", (*Status).Running)
	// The burst ends by itself after its pause. No event announces that, so this polls with a deadline.
	for deadline := time.Now().Add(patience); len(p.log(s.ID())["input"]) < 2; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the second burst is lost")
		}
	}
	p.reopen()
	p.counts(s.ID(), map[string]int{"input": 2})
}

func TestEndedSessionsFreeTheirEmulator(t *testing.T) {
	p := open(t)
	now := time.Now()
	s := p.sh("one", "printf 'bye\\033]0;a title\\007'")
	within(t, s, "the end", ended)
	for dropped, deadline := false, now.Add(patience); !dropped; {
		s.change(t.Context(), func(c *core) error {
			c.kernel.Screen.DropIfIdle(c.now().Add(time.Hour)) // it stays until the link to the holder has ended too
			dropped = c.kernel.Screen.Terminal() == nil
			c.kernel.Changed()
			return nil
		})
		if time.Now().After(deadline) {
			t.Fatal("the emulator stays")
		}
	}
	if st := s.Status(); st.Title != "a title" || st.Cols != 40 || st.Offset == 0 {
		t.Errorf("status %+v", st)
	}
	if got := screenText(t, s); got != "bye" {
		t.Errorf("screen %q", got)
	}
	// Without its checkpoint the picture comes from the journal, and nothing
	// else comes of it.
	s.change(t.Context(), func(c *core) error { c.kernel.Screen.Drop(); return nil })
	if err := os.Remove(s.dir + "/" + loop.CheckpointFile); err != nil {
		t.Fatal(err)
	}
	if got := screenText(t, s); got != "bye" || !ended(s.Status()) {
		t.Errorf("screen %q, state %s", got, s.Status().Now)
	}
	p.counts(s.ID(), map[string]int{"session_created": 1, "exited": 1})
}

// What an event says of the lease brings the checkpoint's up to date.
func TestLeaseAfterAServersEnd(t *testing.T) {
	p := open(t)
	s := p.sh("one", "sleep 600")
	m, err := s.Join(t.Context(), Visitor{Actor: tester, Terminal: true, Cols: 40, Rows: 6})
	if err != nil {
		t.Fatal(err)
	}
	if w := s.Status().Writer; w != nil {
		t.Fatalf("a client that typed nothing writes: %+v", w)
	}
	if err := m.Type(t.Context(), []byte("x")); err != nil {
		t.Fatal(err)
	}
	held := s.Status().Writer
	if held == nil || held.Client != tester.Client {
		t.Fatalf("after a key the writer is %+v", held)
	}
	p.reopen()
	m.Leave()
	s = p.find("one")
	within(t, s, "the release", func(st *Status) bool { return st.Writer == nil })
	if w, err := s.Lock(t.Context(), Claim{Actor: tester}, lease.DefaultLock); err != nil || w.Generation <= held.Generation {
		t.Errorf("the next generation is %+v, %v", w, err)
	}
}

// Clients that were attached when the server died are reported as gone, once
// each, whatever the checkpoint knew of them.
func TestClientsGoWithTheServer(t *testing.T) {
	p := open(t)
	s := p.sh("one", "sleep 600")
	join := func(client string) *Member {
		t.Helper()
		m, err := s.Join(t.Context(), Visitor{Actor: Actor{Identity: tester.Identity, Client: client}})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	join("c101") // in the checkpoint and still here at the end
	left := join("c102")
	kept := checkpointOf(t, s)
	left.Leave()
	join("c103") // only in the log
	for range 2 {
		p.crash(s, kept)
		s = p.find("one")
		if err := s.do(t.Context(), func(*core) {}); err != nil { // its loop has begun
			t.Fatal(err)
		}
		p.counts(s.ID(), map[string]int{"client_attached": 3, "client_detached": 3})
	}
}

// The processes of a session whose spec cannot be read stay an agent's: they
// must not pass for the server's user.
func TestUnreadableSessionKeepsItsHolder(t *testing.T) {
	p := open(t)
	s := p.sh("one", "sleep 600")
	holder := s.Status().HolderPID
	spec := filepath.Join(s.dir, specFile)
	whole, err := os.ReadFile(spec)
	if err != nil {
		t.Fatal(err)
	}
	p.close()
	if err := os.WriteFile(spec, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.open()
	if list := p.reg.Holders(); len(list) != 1 || list[0].PID != holder || list[0].ID != s.ID() || list[0].Start == "" {
		t.Errorf("holders %+v, want that of pid %d", list, holder)
	}
	p.close()
	if err := os.WriteFile(spec, whole, 0o600); err != nil { // so that it is ended with the test
		t.Fatal(err)
	}
	p.open()
}

// A shell at work, and one at rest, are so for the next server too, whatever an
// older checkpoint believes: it emits no state in between.
func TestShellsStateOverAServersEnd(t *testing.T) {
	p := open(t)
	s := p.sh("one", "", func(s *Spec) { s.Command = []string{"sh"} })
	state := func(want agent.State) {
		t.Helper()
		within(t, s, "the state "+string(want), func(st *Status) bool { return st.Now == want })
	}
	run := func(line string) {
		t.Helper()
		if err := s.Deliver(t.Context(), Claim{Actor: tester, Verb: "input"}, []byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	again := func(kept []byte, want agent.State) {
		t.Helper()
		told := len(p.log(s.ID())["state_change"])
		p.crash(s, kept)
		s = p.find("one")
		changed, stop := s.Subscribe()
		defer stop()
		for after := time.After(track.WakesWithin + 500*time.Millisecond); after != nil; { // what it may emit, it emits within
			select {
			case <-changed:
			case <-after:
				after = nil
			}
		}
		if st := s.Status(); st.Now != want {
			t.Errorf("state %s, want %s", st.Now, want)
		}
		for _, line := range p.log(s.ID())["state_change"][told:] {
			t.Errorf("emitted %s", line.Raw)
		}
	}
	state(agent.Idle)
	p.reopen()
	s = p.find("one")
	idle := checkpointOf(t, s)
	run("sleep 600\r")
	state(agent.Working)
	again(idle, agent.Working)
	working := checkpointOf(t, s)
	run("\x03")
	state(agent.Idle)
	again(working, agent.Idle)
}
