package life

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"testing"
	"time"

	"berth/agent"
	"berth/api"
	"berth/sessions/events"
	"berth/sessions/hold"
	"berth/sessions/loop"
)

// stage is a session for its program's life alone. What the life asks of it is in log.
type stage struct {
	*Life
	t       *testing.T
	spec    Spec
	state   agent.State
	now     time.Time
	used    time.Time
	linked  bool
	linkErr error
	dialErr error
	exit    *hold.Exit // that a replay of the journal finds
	record  uint64
	written uint64 // newest record that has its events
	work    []func(context.Context)
	log     []string
}

func newStage(t *testing.T, change ...func(*stage)) *stage {
	t.Helper()
	s := &stage{t: t, state: agent.Starting, now: time.Unix(1e9, 0)}
	for _, fn := range change {
		fn(s)
	}
	note := func(format string, args ...any) { s.log = append(s.log, fmt.Sprintf(format, args...)) }
	s.Life = New(Env{
		Env: loop.Env{
			Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return s.now }, Name: func() string { return "one" },
			Note:       func(kind string, data any) uint64 { note("event %s %+v", kind, data); return 0 },
			Background: func(work func(context.Context)) { s.work = append(s.work, work) },
			Trouble:    func(what string, err error) { note("trouble %s: %v", what, err) },
			Cured:      func(string) {},
		},
		Spec: func() Spec { return s.spec }, State: func() agent.State { return s.state },
		SetState: func(state agent.State, cause string) {
			if state != s.state {
				s.state = state
				note("%s by %s", state, cause)
			}
		},
		Used: func() time.Time { return s.used },
		Event: func(r hold.Record, kind string, data any) {
			if exit, ok := data.(exitEvent); ok {
				data = fmt.Sprintf("crashed %v lost %v %v", exit.Crashed, exit.Lost, exit.LastLines)
			}
			note("event %s %v", kind, data)
		},
		Written: func(record uint64) bool { return record <= s.written },
		Save:    func() {}, Changed: func() {}, Publish: func() {},
		Dial: func(context.Context) (hold.Welcome, error) {
			note("dial")
			if s.dialErr != nil {
				return hold.Welcome{}, s.dialErr
			}
			s.linked, s.linkErr = true, nil
			return hold.Welcome{HolderPID: 7, HolderStart: "h", ChildPID: 8, ChildStart: "c"}, nil
		},
		Linked: func() bool { return s.linked }, LinkErr: func() error { return s.linkErr }, Unlink: func() { s.linked = false },
		Replay: func() {
			if s.exit != nil {
				s.ends(*s.exit)
			}
		},
		Found: func(hold.Welcome) {}, Reached: func(hold.Welcome) { note("reached") },
		Load: func() {}, Launch: func(lost bool) { note("launch, lost %v", lost) },
		EndProgram: func(mark loop.Mark, _ time.Duration) func() error {
			note("end by %s", mark.Verb)
			return func() error { return nil }
		},
		EndOrphans: func(time.Duration) error { note("end orphans"); return nil },
		Begin:      func(time.Time, bool, hold.StartedData) {},
		Created:    func(_ bool, d hold.StartedData) any { return d.PID },
		End:        func(bool) []string { return []string{"bye"} }, Ended: func() {},
	})
	return s
}

// running is a stage whose first program runs.
func running(t *testing.T, change ...func(*stage)) *stage {
	t.Helper()
	s := newStage(t, change...)
	s.linked = true
	s.Hold(hold.Welcome{HolderPID: 7, HolderStart: "h", ChildPID: 8, ChildStart: "c"})
	s.starts(8)
	s.logged("event session_created 8")
	return s
}

func (s *stage) take(kind string, data any) {
	s.t.Helper()
	s.record++
	raw, err := json.Marshal(data)
	if err != nil {
		s.t.Fatal(err)
	}
	if told, err := s.Record(hold.Record{N: s.record, Kind: kind, Time: api.At(s.now), Data: raw}); err != nil || len(told.Events) > 0 {
		s.t.Fatalf("%+v, %v", told, err)
	}
}

func (s *stage) starts(pid int) { s.t.Helper(); s.take(hold.KindStarted, hold.StartedData{PID: pid}) }

// ends has the program end, and the holder with it.
func (s *stage) ends(exit hold.Exit) {
	s.t.Helper()
	s.take(hold.KindExit, exit)
	s.linked = false
}

// launched has a start that is under way succeed.
func (s *stage) launched(pid int) {
	s.t.Helper()
	s.linked = true
	s.Launched(hold.Welcome{HolderPID: pid, ChildPID: pid + 1}, nil)
	s.starts(pid + 1)
}

func (s *stage) logged(want ...string) {
	s.t.Helper()
	if !reflect.DeepEqual(s.log, want) {
		s.t.Errorf("this happened: %q\nwant %q", s.log, want)
	}
	s.log = nil
}

// answered gives what a caller got; nothing if it still waits.
func answered(done chan error) string {
	select {
	case err := <-done:
		return fmt.Sprint(err)
	default:
		return "nothing"
	}
}

func crash() hold.Exit { return hold.Exit{Code: 3} }

// TestRestartPolicy: what follows an end, by the session's policy, the exit, and who asked for it.
func TestRestartPolicy(t *testing.T) {
	for name, c := range map[string]struct {
		spec  Spec
		exit  hold.Exit
		kill  bool
		again bool
	}{
		"never":                     {Spec{Restart: RestartNever}, crash(), false, false},
		"on failure, a success":     {Spec{Restart: RestartOnFailure}, hold.Exit{}, false, false},
		"on failure, a failure":     {Spec{Restart: RestartOnFailure}, crash(), false, true},
		"on failure, a signal":      {Spec{Restart: RestartOnFailure}, hold.Exit{Signal: "SIGKILL"}, false, true},
		"always":                    {Spec{Restart: RestartAlways}, hold.Exit{}, false, true},
		"always, but a caller's":    {Spec{Restart: RestartAlways}, crash(), true, false},
		"asked once more":           {Spec{Restart: RestartNever, Again: []int{3}}, crash(), false, true},
		"once more, but a caller's": {Spec{Restart: RestartNever, Again: []int{3}}, crash(), true, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := running(t, func(s *stage) { s.spec = c.spec })
			done := make(chan error, 1)
			if c.kill {
				s.Stop(loop.Mark{Verb: "kill"}, EndGrace, done)
				s.take(hold.KindEnd, hold.EndData{Mark: loop.Mark{Verb: "kill"}.JSON()})
				s.logged("end by kill")
			}
			s.now = s.now.Add(time.Hour)
			s.ends(c.exit)
			if c.kill && answered(done) != "<nil>" {
				t.Error("the caller of the end waits on")
			}
			want := agent.Exited
			if c.again {
				want = agent.Restarting
			}
			if s.state != want || !s.Over() || s.GoesOn() != (len(c.spec.Again) > 0 && !c.kill) {
				t.Errorf("state %s, goes on %v", s.state, s.GoesOn())
			}
			s.log = nil
			s.now = s.now.Add(2 * time.Second)
			if s.Tick(s.now); c.again {
				s.logged("launch, lost false")
				s.launched(20)
				s.logged("event restarted 21")
			} else {
				s.logged()
			}
		})
	}
}

// TestEndDuringAStart: an end that is asked for while a holder is being started follows the start. A program that ends by itself before the
// holder hears of it isn't started again either.
func TestEndDuringAStart(t *testing.T) {
	for _, byItself := range []bool{false, true} {
		s := running(t, func(s *stage) { s.spec.Restart = RestartAlways })
		s.ends(crash())
		s.log = nil
		started, ended := make(chan error, 1), make(chan error, 1)
		s.Restart(loop.Berth, started)
		s.Stop(loop.Mark{Verb: "kill"}, EndGrace, ended)
		s.logged("launch, lost false")
		if got := answered(started); got != "one was ended before it could be started again" {
			t.Errorf("the caller of the start got %s", got)
		}
		s.linked = true
		s.Launched(hold.Welcome{HolderPID: 20, ChildPID: 21}, nil)
		s.logged("end by kill")
		if got := answered(ended); got != "nothing" {
			t.Errorf("before the end its caller got %s", got)
		}
		s.starts(21)
		if byItself {
			s.ends(crash())
		} else {
			s.take(hold.KindEnd, hold.EndData{Mark: loop.Mark{Verb: "kill"}.JSON()})
			s.ends(hold.Exit{Signal: "SIGHUP"})
		}
		s.logged("event restarted 21", "event exited crashed false lost false [bye]", "exited by process:exit")
		if got := answered(ended); got != "<nil>" {
			t.Errorf("after the end its caller got %s", got)
		}
		s.now = s.now.Add(time.Hour)
		s.Tick(s.now)
		s.logged()
	}
}

// TestRestartOfARunningProgram: the program ends first, and callers of a restart hear how the start went.
func TestRestartOfARunningProgram(t *testing.T) {
	s := running(t)
	first, second := make(chan error, 1), make(chan error, 1)
	s.Restart(loop.Berth, first)
	s.take(hold.KindEnd, hold.EndData{Mark: loop.Mark{Verb: VerbRestart}.JSON()})
	s.ends(hold.Exit{Signal: "SIGHUP"})
	s.Tick(s.now)
	s.Restart(loop.Berth, second) // the start is on its way
	s.logged("end by restart", "event exited crashed false lost false [bye]", "exited by process:exit", "restarting by process:exit", "launch, lost false")
	if a, b := answered(first), answered(second); a != "nothing" || b != "nothing" {
		t.Errorf("before the start its callers got %s and %s", a, b)
	}
	s.launched(20)
	if a, b := answered(first), answered(second); a != "<nil>" || b != "<nil>" {
		t.Errorf("after the start its callers got %s and %s", a, b)
	}
	if pid, _ := s.Holder(); pid != 20 || s.Child().PID != 21 || s.Exit() != nil {
		t.Errorf("holder %d, program %+v, exit %+v", pid, s.Child(), s.Exit())
	}
}

// TestFailedStart: a caller hears why, and no start follows. An automatic start is tried again, later
// each time.
func TestFailedStart(t *testing.T) {
	s := running(t, func(s *stage) { s.spec.Restart = RestartAlways })
	s.ends(crash())
	s.log = nil
	for _, wait := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
		due := s.Tick(s.now)
		if due.Sub(s.now) != wait {
			t.Errorf("a start is due in %s, want %s", due.Sub(s.now), wait)
		}
		s.now = due
		s.Tick(s.now)
		s.Launched(hold.Welcome{}, errors.New("no such file"))
	}
	s.log = nil
	done := make(chan error, 1)
	s.Restart(loop.Berth, done)
	s.Launched(hold.Welcome{}, errors.New("no such file"))
	s.logged("launch, lost false", "trouble start the program again: no such file", "exited by process:start-failed")
	if due := s.Tick(s.now); !due.IsZero() || answered(done) != "no such file" {
		t.Errorf("a start is due at %s", due)
	}
}

// TestLostProgram: a holder that is gone and left no exit has lost its program. That makes one event,
// also if the server is killed before its checkpoint. What is left of the program ends before a start.
func TestLostProgram(t *testing.T) {
	s := running(t)
	s.linkErr, s.dialErr = errors.New("broken"), hold.ErrGone
	s.Tick(s.now)
	s.logged("dial", "event exited crashed false lost true [bye]", "exited by process:exit")
	done := make(chan error, 1)
	s.Stop(loop.Mark{Verb: "kill"}, EndGrace, done)
	for _, work := range s.work {
		work(t.Context())
	}
	s.logged("end orphans")
	if got := answered(done); got != "<nil>" {
		t.Errorf("the caller of the end got %s", got)
	}
	s.Restart(loop.Berth, make(chan error, 1))
	s.logged("restarting by process:restart", "launch, lost true")

	next := newStage(t)
	next.dialErr = hold.ErrGone
	next.Recall(events.Line{Type: "exited"})
	next.Connect(t.Context())
	if next.logged("dial"); next.Exit() == nil || !next.Exit().Lost {
		t.Errorf("exit %+v", next.Exit())
	}

	// An exit in the journal counts, whatever was reported of an earlier program.
	next = newStage(t)
	next.dialErr, next.exit = hold.ErrGone, &hold.Exit{Code: 3}
	next.Recall(events.Line{Type: "exited"})
	next.Recall(events.Line{Type: "restarted", Cause: 9})
	next.Connect(t.Context())
	next.logged("dial", "event exited crashed true lost false [bye]", "exited by process:exit")
}

// TestHolderIsFoundAgain: a broken link is made anew at once; a holder that does not answer is asked
// every 5 s, and meanwhile the program cannot be ended.
func TestHolderIsFoundAgain(t *testing.T) {
	s := running(t)
	s.linkErr = errors.New("broken")
	s.Tick(s.now)
	s.logged("dial", "reached")
	s.linkErr, s.dialErr = errors.New("broken"), errors.New("no answer")
	s.Tick(s.now)
	s.Tick(s.now.Add(dialAgain - 1))
	s.logged("dial", "trouble reach the holder: no answer", "unknown by process:no-answer")
	done := make(chan error, 2)
	s.Stop(loop.Mark{Verb: "kill"}, EndGrace, done)
	s.Restart(loop.Berth, done)
	if a, b := answered(done), answered(done); a != b || a != "the holder of one does not answer: its program cannot be ended from here" {
		t.Errorf("%s, %s", a, b)
	}
	s.dialErr = nil
	s.Tick(s.now.Add(dialAgain))
	s.logged("dial", "reached")
}

// TestLimits: a session's time is over by its ttl, or when it was not used for a while. Its program is
// asked to end once.
func TestLimits(t *testing.T) {
	s := running(t, func(s *stage) { s.spec = Spec{Restart: RestartAlways, TTL: time.Hour, Idle: 10 * time.Minute} })
	begin := s.now
	s.used = begin.Add(50 * time.Minute)
	if due := s.Tick(s.now); !due.Equal(begin.Add(time.Hour)) {
		t.Errorf("used until %s it is over at %s", s.used, due)
	}
	s.used = time.Time{}
	if due := s.Tick(s.now); !due.Equal(begin.Add(10 * time.Minute)) {
		t.Errorf("unused it is over at %s", due)
	}
	s.logged()
	s.now = begin.Add(10 * time.Minute)
	if due := s.Tick(s.now); !due.IsZero() {
		t.Errorf("it is over again at %s", due)
	}
	s.logged("event session_limit {Why:idle_timeout}", "end by limit")
	s.take(hold.KindEnd, hold.EndData{Mark: loop.Mark{Verb: "limit"}.JSON()})
	s.ends(hold.Exit{Signal: "SIGHUP"})
	if s.Tick(s.now.Add(time.Hour)); s.state != agent.Exited {
		t.Errorf("state %s", s.state)
	}
	s = running(t, func(s *stage) { s.spec.TTL = time.Hour })
	s.now = s.now.Add(time.Hour)
	s.Tick(s.now)
	s.logged("event session_limit {Why:ttl}", "end by limit")
}

// TestNextServer: it has the program, its holder and its end from the checkpoint, and completes what
// the one before it could not.
func TestNextServer(t *testing.T) {
	s := running(t)
	s.Stop(loop.Mark{Verb: "kill"}, EndGrace, make(chan error, 1))
	saved, err := s.Save()
	if err != nil {
		t.Fatal(err)
	}
	next := newStage(t)
	if err := next.Restore(saved, false); err != nil {
		t.Fatal(err)
	}
	pid, start := next.Holder()
	if pid != 7 || start != "h" || next.Child() != s.Child() || !next.Started().Equal(s.Started()) || !next.Ending() || next.Exit() != nil {
		t.Errorf("%+v of %s", next.Life, saved)
	}

	// The server was killed between the end and its event, or between the end and the start.
	for before, after := range map[agent.State]agent.State{agent.Working: agent.Exited, agent.Exited: agent.Exited, agent.Restarting: agent.Restarting} {
		ended := newStage(t, func(s *stage) { s.state, s.spec.Restart = before, RestartAlways })
		if err := ended.Restore(json.RawMessage(`{"exit":{"code":1},"started":"2001-09-09T01:46:40Z"}`), false); err != nil {
			t.Fatal(err)
		}
		due := ended.Tick(ended.now)
		if planned := !due.IsZero(); ended.state != after || planned != (before == agent.Restarting) {
			t.Errorf("%s: it is %s, and a start is due at %s", before, ended.state, due)
		}
	}

	// A start and an end that have their events make no other. A program that ran on is not a new start.
	again := newStage(t, func(s *stage) { s.written, s.state = 2, agent.Exited })
	again.linked = true
	again.starts(8)
	if again.state != agent.Exited {
		t.Errorf("state %s", again.state)
	}
	again.ends(crash())
	for _, line := range again.log {
		if line != "event session_created 8" { // its Env throws it away
			t.Errorf("%s", line)
		}
	}
}

// TestRemoval: no program is started while the session's folder is deleted.
func TestRemoval(t *testing.T) {
	s := running(t, func(s *stage) { s.spec.Restart = RestartAlways })
	if _, ok := s.BeginRemoval(); ok {
		t.Error("a running session is removed")
	}
	s.ends(crash())
	if lost, ok := s.BeginRemoval(); lost || !ok {
		t.Errorf("%v, %v", lost, ok)
	}
	done := make(chan error, 1)
	s.Restart(loop.Berth, done)
	if got := answered(done); got != "one is being removed: it is not started again" {
		t.Errorf("a restart got %s", got)
	}
	if due := s.Tick(s.now); !due.IsZero() {
		t.Errorf("a start is due at %s", due)
	}
	s.log = nil
	s.EndRemoval()
	s.Restart(loop.Berth, done)
	s.logged("launch, lost false")
	if _, ok := s.BeginRemoval(); ok {
		t.Error("a session is removed during its start")
	}
	s.Close(errors.New("down"))
	if got := answered(done); got != "down" {
		t.Errorf("at the server's end a caller got %s", got)
	}
}
