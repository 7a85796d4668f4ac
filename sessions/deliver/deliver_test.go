package deliver

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/api"
)

// plain is a typer without rules of its own.
type plain struct{ pause time.Duration }

func (p plain) Pause() time.Duration { return p.pause }

func (plain) Message(text string) string       { return text }
func (plain) Slash(text string) (string, bool) { return text, strings.HasPrefix(text, "/") }
func (plain) Paste(typed string, bracketed bool) ([]byte, bool) {
	return []byte("<" + typed + ">"), bracketed || !strings.Contains(typed, "\n")
}
func (plain) Same(typed, told string) bool { return typed == told }
func (p plain) Holds(typed string, c *agent.Composer) bool {
	return c != nil && (c.Text == typed || c.Text == "[mark]")
}
func (plain) Displays(typed string, c *agent.Composer) bool { return c != nil && c.Text == typed }
func (plain) Clear(_ *agent.Composer, stuck int) []byte {
	return [][]byte{[]byte("U"), []byte("K"), nil}[min(stuck, 2)]
}
func (plain) Interrupt() []byte { return []byte("I") }
func (plain) Unstash() []byte   { return []byte("S") }
func (plain) Stash(r *agent.Reading) ([]byte, string) {
	if r.Stashed {
		return nil, "one is put aside already"
	}
	return []byte("S"), ""
}

// scene is an agent on a fake clock: what it shows changes by the script.
type scene struct {
	t       *testing.T
	m       *Machine
	now     time.Time
	seen    Seen
	written string
	drafts  string // as reported
	done    *Outcome
}

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func composer(text string) *agent.Reading {
	return &agent.Reading{Composer: &agent.Composer{Mode: agent.ModeMessage, Text: text, Empty: text == "", Focused: true}}
}

var dialog = &agent.Reading{Dialog: &agent.Dialog{Type: agent.PromptPermission}}

func newScene(t *testing.T, o Options) *scene {
	if o.Typer == nil {
		o.Typer = plain{}
	}
	if o.Typed == "" {
		o.Typed = "hello"
	}
	return &scene{t: t, m: New(o, start), now: start, seen: Seen{State: agent.Idle, Reading: composer(""), Paste: true}}
}

// step gives the machine a look, and takes what it writes.
func (s *scene) step() string {
	s.t.Helper()
	if s.done != nil {
		s.t.Fatal("it goes on after its end")
	}
	step := s.m.Step(s.seen, s.now)
	s.done = step.Done
	s.written += string(step.Write)
	if step.Draft != "" {
		s.drafts += string(step.Draft) + " "
	}
	return string(step.Write)
}

// run lets time pass until the machine writes or ends, at most d.
func (s *scene) run(d time.Duration) string {
	s.t.Helper()
	for end := s.now.Add(d); !s.now.After(end); s.now = s.now.Add(10 * time.Millisecond) {
		if out := s.step(); out != "" || s.done != nil {
			return out
		}
	}
	return ""
}

func (s *scene) wrote(want string) {
	s.t.Helper()
	if got := s.run(5 * time.Second); got != want {
		s.t.Fatalf("it wrote %q, not %q (%+v)", got, want, s.done)
	}
}

func (s *scene) ended(v Verdict, code api.Code) {
	s.t.Helper()
	for end := s.now.Add(10 * time.Second); s.done == nil && s.now.Before(end); s.now = s.now.Add(10 * time.Millisecond) {
		s.step()
	}
	if s.done == nil || s.done.Verdict != v || s.done.Code != code {
		s.t.Fatalf("it ended with %+v, not %s %s; it wrote %q", s.done, v, code, s.written)
	}
}

func (s *scene) told(text string) {
	s.m.Fact(agent.Fact{Kind: agent.TurnStarted, Source: agent.SourceHook, Cause: "hook:UserPromptSubmit", Turn: "t1", Text: text})
}

// TestPause: an echo that comes before the agent takes Enter for Enter is not
// enough.
func TestPause(t *testing.T) {
	s := newScene(t, Options{Typer: plain{pause: 200 * time.Millisecond}})
	s.wrote("<hello>")
	s.seen.Reading = composer("hello")
	typed := s.now
	s.wrote("\r")
	if waited := s.now.Sub(typed); waited < 200*time.Millisecond || waited > 250*time.Millisecond {
		t.Errorf("Enter was pressed after %v", waited)
	}
}

// TestQueued: a turn began just before Enter, and the agent shows that it keeps
// the message; another one that it keeps says nothing.
func TestQueued(t *testing.T) {
	for _, kept := range []string{"hello", "another"} {
		s := newScene(t, Options{})
		s.wrote("<hello>")
		s.seen.Reading = composer("hello")
		s.wrote("\r")
		busy := composer("")
		busy.Busy, busy.Queued = "working", []string{kept}
		s.seen.State, s.seen.Reading = agent.Working, busy
		if kept == "hello" {
			if s.ended(Confirmed, ""); !s.done.Queued {
				t.Error("it is not said to wait for the end of the turn")
			}
			continue
		}
		s.ended(Unconfirmed, api.CodeUnconfirmed)
	}
}

func TestDelivered(t *testing.T) {
	for _, state := range []agent.State{agent.Idle, agent.InError} {
		s := newScene(t, Options{})
		s.seen.State = state
		s.wrote("<hello>")
		if out := s.run(300 * time.Millisecond); out != "" || s.done != nil {
			t.Fatalf("it wrote %q before the echo", out)
		}
		s.seen.Reading = composer("hello")
		s.wrote("\r")
		s.seen.Reading = composer("")
		s.told("hello")
		s.ended(Confirmed, "")
		if s.done.Turn != "t1" || s.done.Evidence != "hook:UserPromptSubmit" {
			t.Errorf("%+v", s.done)
		}
	}
}

func TestRefusedAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*scene)
		code   api.Code
	}{
		"working":    {func(s *scene) { s.seen.State = agent.Working }, api.CodeAgentBusy},
		"starting":   {func(s *scene) { s.seen.State = agent.Starting }, api.CodeAgentBusy},
		"prompt":     {func(s *scene) { s.seen.State, s.seen.Asks = agent.Prompt, true }, api.CodeAgentBusy},
		"asks":       {func(s *scene) { s.seen.Asks = true }, api.CodeAgentBusy},
		"dialog":     {func(s *scene) { s.seen.Reading = dialog }, api.CodeAgentBusy},
		"spinner":    {func(s *scene) { s.seen.Reading.Busy = "Churning…" }, api.CodeAgentBusy},
		"nothing":    {func(s *scene) { s.seen.Reading = &agent.Reading{} }, api.CodeAgentBusy},
		"unsettled":  {func(s *scene) { s.seen.Reading = nil }, api.CodeAgentBusy},
		"draft":      {func(s *scene) { s.seen.Reading = composer("my draft") }, api.CodeDraftPresent},
		"shell mode": {func(s *scene) { s.seen.Reading.Composer.Mode = agent.ModeShell }, api.CodeDraftPresent},
		"search":     {func(s *scene) { s.seen.Reading.Composer.Mode = agent.ModeSearch }, api.CodeDraftPresent},
		"busy level": {func(s *scene) { s.m.Fact(agent.Fact{Kind: agent.LevelIs, Level: agent.LevelBusy, Cause: "title"}) }, api.CodeAgentBusy},
		"no paste":   {func(s *scene) { s.seen.Paste = false; s.m.o.Typed = "a\nb" }, api.CodeNotReady},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, Options{})
			c.change(s)
			s.ended(Refused, c.code)
			if s.written != "" {
				t.Errorf("it wrote %q", s.written)
			}
		})
	}
}

func TestFlutter(t *testing.T) {
	title := agent.Fact{Kind: agent.LevelIs, Source: agent.SourceTitle, Level: agent.LevelBusy, Cause: "title:spinner"}
	s := newScene(t, Options{Flutters: func(source agent.Source) bool { return source == agent.SourceTitle }})
	s.wrote("<hello>")
	s.m.Fact(title)
	s.seen.Reading = nil // not relied on while the word is not believed
	if out := s.run(200 * time.Millisecond); out != "" || s.done != nil {
		t.Fatalf("%q %+v", out, s.done)
	}
	s.seen.Reading = composer("hello")
	s.wrote("\r")
	s.told("hello")
	s.ended(Confirmed, "")

	s = newScene(t, Options{Flutters: func(source agent.Source) bool { return source == agent.SourceTitle }})
	title.Source = agent.SourceOSC
	s.m.Fact(title)
	s.ended(Refused, api.CodeAgentBusy)
}

func TestWaitsForAFrame(t *testing.T) {
	s := newScene(t, Options{})
	s.seen.Reading = nil
	if out := s.run(200 * time.Millisecond); out != "" || s.done != nil {
		t.Fatalf("%q %+v", out, s.done)
	}
	s.seen.Reading = composer("")
	s.wrote("<hello>")
}

// TestDialogAtEveryStep has something come between, in each way that it
// may be noticed, at each step before Enter: Enter is never pressed.
func TestDialogAtEveryStep(t *testing.T) {
	signs := map[string]func(*scene){
		"dialog on the screen": func(s *scene) { s.seen.Reading = dialog },
		"prompt":               func(s *scene) { s.seen.State, s.seen.Asks = agent.Prompt, true },
		"asked": func(s *scene) {
			s.m.Fact(agent.Fact{Kind: agent.Asked, Source: agent.SourceHook, Cause: "hook:PermissionRequest"})
		},
		"tool": func(s *scene) { s.m.Fact(agent.Fact{Kind: agent.ToolStarted, Cause: "hook:PreToolUse"}) },
		"waiting": func(s *scene) {
			s.m.Fact(agent.Fact{Kind: agent.LevelIs, Level: agent.LevelWaiting, Cause: "registry"})
		},
		"working":               func(s *scene) { s.seen.State = agent.Working },
		"turn":                  func(s *scene) { s.told("another message") },
		"own turn before Enter": func(s *scene) { s.told("hello") },
		"exit":                  func(s *scene) { s.m.Fact(agent.Fact{Kind: agent.ProgramExited, Cause: "process:exit"}) },
	}
	steps := []struct {
		name  string
		reach func(*scene)
	}{
		{"at the start", func(*scene) {}},
		{"clearing", func(s *scene) { s.m.o.Clear = true; s.seen.Reading = composer("draft"); s.wrote("U") }},
		{"typed", func(s *scene) { s.wrote("<hello>") }},
		{"typed a while ago", func(s *scene) { s.wrote("<hello>"); s.run(500 * time.Millisecond) }},
		{"with the echo", func(s *scene) { s.wrote("<hello>"); s.seen.Reading = composer("hello") }},
	}
	for sign, happen := range signs {
		for _, at := range steps {
			t.Run(sign+" "+at.name, func(t *testing.T) {
				s := newScene(t, Options{})
				at.reach(s)
				happen(s)
				s.ended(Refused, api.CodeAgentBusy)
				if strings.Contains(s.written, "\r") {
					t.Errorf("Enter was pressed: %q", s.written)
				}
			})
		}
	}
}

// TestTakenBack clears what was typed when a turn began in between, and only
// while the composer shows that it is ours.
func TestTakenBack(t *testing.T) {
	s := newScene(t, Options{})
	s.wrote("<hello>")
	s.seen.State = agent.Working
	s.run(100 * time.Millisecond)
	s.seen.Reading = composer("hello")
	s.wrote("U")
	s.seen.Reading = composer("hel")
	s.wrote("U")
	s.seen.Reading = composer("")
	s.ended(Refused, api.CodeAgentBusy)
	if s.done.Left {
		t.Error("it was cleared")
	}
}

func TestTakingBackLeavesADialogAlone(t *testing.T) {
	s := newScene(t, Options{})
	s.wrote("<hello>")
	s.seen.Reading = composer("hello")
	s.seen.State, s.seen.Asks = agent.Prompt, true // not painted yet: the composer holds text
	s.wrote("U")
	s.seen.Reading = dialog
	s.ended(Refused, api.CodeAgentBusy)
	if s.written != "<hello>U" || !s.done.Left {
		t.Errorf("%q %+v", s.written, s.done)
	}
}

func TestSomebodyElseTypedAtTheSameTime(t *testing.T) {
	s := newScene(t, Options{})
	s.wrote("<hello>")
	s.seen.Reading = composer("xhello")
	s.ended(Refused, api.CodeDraftPresent)
	if s.written != "<hello>" || !s.done.Left {
		t.Errorf("%q %+v", s.written, s.done)
	}
}

func TestClear(t *testing.T) {
	s := newScene(t, Options{Clear: true})
	s.seen.Reading = composer("a draft")
	s.wrote("U")
	if out := s.run(50 * time.Millisecond); out != "" {
		t.Fatalf("%q before the key was drawn", out)
	}
	s.seen.Reading = composer("ft") // what was after the caret
	s.wrote("U")
	s.wrote("K")
	s.seen.Reading = composer("")
	s.wrote("<hello>")
}

func TestClearInVain(t *testing.T) {
	s := newScene(t, Options{Clear: true})
	s.seen.Reading = composer("a draft")
	s.ended(Refused, api.CodeDraftPresent)
	if s.written != "UK" {
		t.Errorf("%q", s.written)
	}
}

// TestOwnMessage: what an interrupt put back is ours and no draft; a mark could
// stand for anything.
func TestOwnMessage(t *testing.T) {
	s := newScene(t, Options{Own: "before"})
	s.seen.Reading = composer("before")
	s.wrote("U")
	s.seen.Reading = composer("")
	s.wrote("<hello>")
	s = newScene(t, Options{Own: "before"})
	s.seen.Reading = composer("[mark]")
	s.ended(Refused, api.CodeDraftPresent)
}

func TestOneSecondEnter(t *testing.T) {
	s := newScene(t, Options{})
	s.wrote("<hello>")
	s.seen.Reading = composer("hello")
	s.wrote("\r")
	if out := s.run(900 * time.Millisecond); out != "" {
		t.Fatalf("%q within a second", out)
	}
	s.wrote("\r")
	s.seen.Reading = composer("")
	s.told("hello")
	s.ended(Confirmed, "")

	s = newScene(t, Options{})
	s.wrote("<hello>")
	s.seen.Reading = composer("hello")
	s.wrote("\r")
	s.wrote("\r")
	s.ended(Unconfirmed, api.CodeUnconfirmed)
	if !s.done.Left || s.written != "<hello>\r\r" {
		t.Errorf("%q %+v", s.written, s.done)
	}
}

// breaker is a typer to whose agent two Enters may be two messages.
type breaker struct{ plain }

func (breaker) Broke(before, now *agent.Composer) bool {
	return before != nil && now != nil && now.Blank > before.Blank
}

// TestBrokenLine: such an agent is given a second Enter when the first has broken
// a line, and none as long as it may not have read the first.
func TestBrokenLine(t *testing.T) {
	sent := func() *scene {
		s := newScene(t, Options{Typer: breaker{}})
		s.wrote("<hello>")
		s.seen.Reading = composer("hello")
		s.wrote("\r")
		s.seen.Unread = 1
		return s
	}
	s := sent()
	s.seen.Reading = composer("hello")
	s.seen.Reading.Composer.Blank = 1
	s.wrote("\r")
	s.seen.Reading = composer("")
	s.told("hello")
	s.ended(Confirmed, "")

	s = sent()
	if out := s.run(6 * time.Second); out != "" || s.done != nil {
		t.Fatalf("%q, %+v while Enter was not read", out, s.done)
	}
	s.told("hello")
	s.ended(Confirmed, "")

	s = sent()
	s.run(3 * time.Second)
	s.seen.Unread = 0
	read := s.now
	s.wrote("\r")
	if waited := s.now.Sub(read); waited < lostAfter {
		t.Errorf("the second Enter came %v after the first was read", waited)
	}
	s.told("hello")
	s.ended(Confirmed, "")

	s = sent()
	s.seen.Unread, s.seen.Computes = 0, true
	if out := s.run(4 * time.Second); out != "" || s.done != nil {
		t.Fatalf("%q, %+v while it computes", out, s.done)
	}
	s.seen.Computes = false
	rests := s.now
	s.wrote("\r")
	if waited := s.now.Sub(rests); waited < lostAfter {
		t.Errorf("the second Enter came %v after it rested", waited)
	}
	s.told("hello")
	s.ended(Confirmed, "")

	s = sent()
	s.seen.Unread = -1
	entered := s.now
	s.wrote("\r")
	if waited := s.now.Sub(entered); waited < 3*lostAfter {
		t.Errorf("the second Enter came after %v", waited)
	}

	s = sent()
	s.seen.Reading = composer("")
	if out := s.run(6 * time.Second); out != "" || s.done != nil {
		t.Fatalf("%q, %+v while nothing was reported", out, s.done)
	}
	s.told("hello")
	s.ended(Confirmed, "")

	s = sent() // a screen that is drawn anew
	s.seen.Reading = &agent.Reading{}
	if out := s.run(6 * time.Second); out != "" || s.done != nil {
		t.Fatalf("%q, %+v while the screen was empty", out, s.done)
	}
	s.told("hello")
	s.ended(Confirmed, "")

	s = sent() // a half-drawn frame
	s.m.Fact(agent.Fact{Kind: agent.LevelIs, Level: agent.LevelBusy, Cause: "title"})
	s.seen.Reading = composer("")
	if out := s.run(2 * time.Second); out != "" || s.done != nil {
		t.Fatalf("%q, %+v while nothing was reported", out, s.done)
	}
	s.seen.Reading = &agent.Reading{}
	s.ended(Confirmed, "")

	s = sent()
	entered = s.now
	s.ended(Unconfirmed, api.CodeUnconfirmed)
	if took := s.now.Sub(entered); s.done.Left || took > readFor+100*time.Millisecond || s.written != "<hello>\r" {
		t.Errorf("after %v %q %+v", took, s.written, s.done)
	}
}

// TestListens: such an agent is given as long to listen as it took to draw.
func TestListens(t *testing.T) {
	for _, drew := range []time.Duration{50 * time.Millisecond, 600 * time.Millisecond, 2 * time.Second} {
		s := newScene(t, Options{Typer: breaker{plain{pause: 100 * time.Millisecond}}})
		s.wrote("<hello>")
		if out := s.run(drew); out != "" {
			t.Fatalf("%q before it drew", out)
		}
		s.seen.Reading = composer("hello")
		drawn := s.now
		s.wrote("\r")
		want := min(max(drew, listensAfter), listensWithin)
		if waited := s.now.Sub(drawn); waited < want || waited > want+50*time.Millisecond {
			t.Errorf("drawn after %v: Enter came %v after", drew, waited)
		}
	}
}

// TestNoSecondEnter: whatever has happened since the first rules it out.
func TestNoSecondEnter(t *testing.T) {
	for name, happen := range map[string]func(*scene){
		"emptied": func(s *scene) { s.seen.Reading = composer("") },
		"changed": func(s *scene) { s.seen.Reading = composer("hello you") },
		"dialog":  func(s *scene) { s.seen.Reading = dialog },
		"prompt":  func(s *scene) { s.seen.State, s.seen.Asks = agent.Prompt, true },
		"working": func(s *scene) { s.seen.State = agent.Working },
		"turn":    func(s *scene) { s.told("another") },
		"unread":  func(s *scene) { s.seen.Reading = nil },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, Options{})
			s.wrote("<hello>")
			s.seen.Reading = composer("hello")
			s.wrote("\r")
			happen(s)
			s.ended(Unconfirmed, api.CodeUnconfirmed)
			if s.written != "<hello>\r" {
				t.Errorf("%q", s.written)
			}
		})
	}
}

// TestConfirmedWithoutHooks goes by the agent's state when no source reports its
// text.
func TestConfirmedWithoutHooks(t *testing.T) {
	s := newScene(t, Options{})
	s.wrote("<hello>")
	s.seen.Reading = composer("hello")
	s.wrote("\r")
	s.m.Fact(agent.Fact{Kind: agent.LevelIs, Level: agent.LevelBusy, Cause: "registry:busy"})
	s.seen.State, s.seen.Reading = agent.Working, composer("")
	s.ended(Confirmed, "")
	if !strings.HasPrefix(s.done.Evidence, "registry:busy") {
		t.Errorf("%+v", s.done)
	}
}

// TestNoComposerWhileItWorks: an agent that has no composer while it works has the message when it
// was seen to work, also when it asks soon after that. A dialog alone confirms nothing.
func TestNoComposerWhileItWorks(t *testing.T) {
	working := &agent.Reading{Busy: "working...", Clear: true}
	for _, told := range []bool{true, false} {
		for name, tc := range map[string]struct {
			shows []*agent.Reading
			want  Verdict
			code  api.Code
		}{
			"works on":            {[]*agent.Reading{working}, Confirmed, ""},
			"asks after its work": {[]*agent.Reading{working, dialog}, Confirmed, ""},
			"a dialog alone":      {[]*agent.Reading{dialog}, Unconfirmed, api.CodeUnconfirmed},
			"half drawn":          {[]*agent.Reading{{Busy: "working..."}}, Unconfirmed, api.CodeUnconfirmed},
		} {
			t.Run(fmt.Sprintf("%s, reported %t", name, told), func(t *testing.T) {
				s := newScene(t, Options{})
				s.wrote("<hello>")
				s.seen.Reading = composer("hello")
				s.wrote("\r")
				if told {
					s.m.Fact(agent.Fact{Kind: agent.LevelIs, Level: agent.LevelBusy, Cause: "title:working"})
				}
				for _, reading := range tc.shows {
					s.seen.Reading, s.seen.State = reading, agent.Working
					if reading.Dialog != nil {
						s.seen.State, s.seen.Asks = agent.Prompt, true
					}
					s.run(time.Second)
				}
				s.ended(tc.want, tc.code)
			})
		}
	}
}

func TestSlashCommand(t *testing.T) {
	s := newScene(t, Options{Typed: "/compact", Slash: true})
	s.wrote("</compact>")
	s.seen.Reading = composer("/compact")
	s.wrote("\r")
	s.seen.Reading = dialog
	s.ended(Confirmed, "")

	// A half-drawn frame isn't a sign, a screen without a composer is.
	s = newScene(t, Options{Typed: "/compact", Slash: true})
	s.wrote("</compact>")
	s.seen.Reading = composer("/compact")
	s.wrote("\r")
	s.seen.Reading = &agent.Reading{}
	if s.run(200 * time.Millisecond); s.done != nil {
		t.Fatalf("half drawn: %+v", s.done)
	}
	s.seen.Reading = composer("/compact")
	if s.run(500 * time.Millisecond); s.done != nil {
		t.Fatalf("drawn as before: %+v", s.done)
	}
	s.seen.Reading = &agent.Reading{}
	s.ended(Confirmed, "")
}

func TestQueuedByTheAgent(t *testing.T) {
	s := newScene(t, Options{})
	s.wrote("<hello>")
	s.seen.Reading = composer("hello")
	s.wrote("\r")
	s.m.Fact(agent.Fact{Kind: agent.Queued, Source: agent.SourceLog, Cause: "log:enqueue", Text: "hello"})
	s.ended(Confirmed, "")
}

// TestLateLog: what a log reports late about the turn before neither keeps a message
// back nor passes for its arrival, though the same was said then.
func TestLateLog(t *testing.T) {
	s := newScene(t, Options{})
	late := agent.Fact{Kind: agent.TurnStarted, Source: agent.SourceLog, Cause: "log:user", Turn: "t0", Text: "hello", At: s.now.Add(-time.Second)}
	s.m.Fact(late)
	s.wrote("<hello>")
	s.seen.Reading = composer("hello")
	typed := s.now
	s.wrote("\r")
	late.At = typed.Add(-time.Millisecond)
	s.m.Fact(late)
	if step := s.m.Step(s.seen, s.now); step.Done != nil {
		t.Fatalf("%+v", step.Done)
	}
	own := late
	own.Turn, own.At = "t1", s.now
	s.m.Fact(own)
	if step := s.m.Step(s.seen, s.now); step.Done == nil || step.Done.Verdict != Confirmed || step.Done.Turn != "t1" {
		t.Errorf("%+v", step.Done)
	}
}

// TestDialogThatIsGoing: an agent at rest whose dialog is painted still is waited
// for; one whose dialog stays takes no message.
func TestDialogThatIsGoing(t *testing.T) {
	s := newScene(t, Options{})
	s.seen.Reading = dialog
	if out := s.run(time.Second); out != "" || s.done != nil {
		t.Fatalf("it wrote %q, ended %+v", out, s.done)
	}
	s.seen.Reading = composer("")
	s.wrote("<hello>")

	s = newScene(t, Options{})
	s.seen.Reading = dialog
	s.ended(Refused, api.CodeAgentBusy)
	if s.written != "" {
		t.Errorf("it wrote %q", s.written)
	}
}

// TestStrayKeys: what was typed before there was a composer may be drawn late, so
// an empty first composer is not believed at once.
func TestStrayKeys(t *testing.T) {
	s := newScene(t, Options{})
	s.seen.Typed, s.seen.Composed = start.Add(-4*time.Second), start
	s.seen.Printed = start.Add(-time.Second)
	if out := s.run(strayFor - 100*time.Millisecond); out != "" || s.done != nil {
		t.Fatalf("it wrote %q, ended %+v", out, s.done)
	}
	s.wrote("<hello>")

	// One that was slow to draw is slow to draw what was typed, and its keys of the time
	// since are not believed sooner for it.
	for drew, want := range map[time.Duration]time.Duration{8 * time.Second: 4 * time.Second, time.Minute: strayMost} {
		s = newScene(t, Options{})
		s.seen.Typed, s.seen.Composed, s.seen.Drew = start.Add(-time.Second), start, drew
		s.seen.Printed = start
		if out := s.run(want - 100*time.Millisecond); out != "" || s.done != nil {
			t.Fatalf("drawn in %s: it wrote %q, ended %+v", drew, out, s.done)
		}
		s.seen.Unread = 1
		if out := s.run(time.Second); out != "" || s.done != nil {
			t.Fatalf("drawn in %s: it wrote %q before what is unread, ended %+v", drew, out, s.done)
		}
		s.seen.Unread = 0
		s.wrote("<hello>")
	}
}

// TestUnreadKeys: what the agent has not read yet would stand before the message.
func TestUnreadKeys(t *testing.T) {
	s := newScene(t, Options{})
	s.seen.Unread = 3
	if out := s.run(echoFor - 100*time.Millisecond); out != "" || s.done != nil {
		t.Fatalf("it wrote %q, ended %+v", out, s.done)
	}
	s.seen.Unread = 0
	s.wrote("<hello>")
}

// TestMixed: keys of a person's that are drawn around the message end the
// delivery soon, with nothing sent and nothing taken away: who typed them has to
// be able to.
func TestMixed(t *testing.T) {
	s := newScene(t, Options{})
	s.wrote("<hello>")
	s.seen.Reading = composer("hellokkk")
	s.ended(Refused, api.CodeDraftPresent)
	if s.written != "<hello>" || !s.done.Left {
		t.Errorf("it wrote %q, ended %+v", s.written, s.done)
	}
	if took := s.now.Sub(start); took > time.Second {
		t.Errorf("it ended after %s", took)
	}
}

// folding is an agent that gives the model a paste as another author's text.
type folding struct{ plain }

func (folding) Folded(typed, told string) bool { return told == "folded "+typed }

// TestPasted: a message that the model was given as pasted content isn't reported as
// confirmed, though the agent has it.
func TestPasted(t *testing.T) {
	s := newScene(t, Options{Typer: folding{}})
	s.wrote("<hello>")
	s.seen.Reading = composer("hello")
	s.wrote("\r")
	s.told("folded hello")
	s.seen.State, s.seen.Reading = agent.Working, composer("")
	s.ended(Unconfirmed, api.CodeUnconfirmed)
	if !s.done.Pasted || s.done.Turn != "t1" || s.done.Left {
		t.Errorf("%+v", s.done)
	}
}

// TestInterruptWaits: a client waits to interrupt the turn of a message whose agent reports nothing. The
// delivery ends as soon as the screen shows that the agent has the message. It is typed to its end
// before that.
func TestInterruptWaits(t *testing.T) {
	working, holds := composer(""), composer("hello")
	working.Clear, holds.Clear = true, true
	for name, c := range map[string]struct {
		interrupt bool
		state     agent.State
		reading   *agent.Reading
		soon      bool
	}{
		"it works":                   {true, agent.Working, working, true},
		"no client waits":            {false, agent.Working, working, false},
		"the composer has it":        {true, agent.Working, holds, false},
		"nothing says that it works": {true, agent.Idle, working, false},
		"its screen is being drawn":  {true, agent.Working, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, Options{})
			s.seen.Interrupt = c.interrupt
			s.wrote("<hello>")
			s.seen.Reading = composer("hello")
			s.wrote("\r")
			s.m.Fact(agent.Fact{Kind: agent.LevelIs, Level: agent.LevelBusy, Source: agent.SourceTitle, Cause: "title"})
			s.seen.State, s.seen.Reading = c.state, c.reading
			if out := s.run(200 * time.Millisecond); out != "" || (s.done != nil) != c.soon {
				t.Fatalf("it wrote %q, and ended with %+v", out, s.done)
			}
			if c.soon && s.done.Verdict != Confirmed {
				t.Errorf("it ended with %+v", s.done)
			}
		})
	}
}

// TestEnterThatIsNotRead: a program that hasn't read Enter yet may take the message later, although its composer holds it still.
// It isn't left there, because a queued message that is left is typed again.
func TestEnterThatIsNotRead(t *testing.T) {
	for unread, left := range map[int]bool{6: false, 0: true, -1: true} {
		s := newScene(t, Options{})
		s.wrote("<hello>")
		s.seen.Reading = composer("hello")
		s.wrote("\r")
		s.seen.Unread, s.seen.Held = unread, true
		s.ended(Unconfirmed, api.CodeUnconfirmed)
		if s.done.Left != left {
			t.Errorf("%d bytes are unread: %+v", unread, s.done)
		}
	}
}

// TestHalted: nothing is typed at a program that is stopped.
func TestHalted(t *testing.T) {
	s := newScene(t, Options{})
	s.seen.Halted = true
	s.ended(Refused, api.CodeAgentBusy)
	if s.written != "" || s.done.Evidence != WhyHalted {
		t.Errorf("it wrote %q, and ended with %+v", s.written, s.done)
	}
}

// TestHeld: no Enter, and no second one, is pressed while another process has the terminal keep it.
func TestHeld(t *testing.T) {
	for _, released := range []bool{false, true} {
		s := newScene(t, Options{})
		if got := s.step(); got != "<hello>" {
			t.Fatalf("typed %q", got)
		}
		s.seen.Reading, s.seen.Held = composer("hello"), true
		for range 100 {
			s.now = s.now.Add(20 * time.Millisecond)
			if got := s.step(); got != "" {
				t.Fatalf("typed %q while the terminal is held", got)
			}
		}
		if released {
			s.seen.Held = false
			if got := s.step(); got != "\r" {
				t.Errorf("typed %q when it was released", got)
			}
			s.seen.Held = true
		}
		for range 500 {
			if s.done != nil {
				break
			}
			s.now = s.now.Add(20 * time.Millisecond)
			if got := s.step(); strings.Contains(got, "\r") {
				t.Fatalf("typed %q while the terminal is held", got)
			} else if got != "" {
				s.seen.Reading = composer("")
			}
		}
		if s.done == nil || !released && (s.done.Code != api.CodeAgentBusy || s.done.Evidence != held) {
			t.Errorf("released %v: ended as %+v", released, s.done)
		}
	}
}
