package prompts

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/api"
	"berth/detect"
	"berth/sessions/hold"
	"berth/sessions/loop"
)

// foldOf is the fold of an agent whose turn is refused at a time. With the zero time it works on.
func foldOf(stopped time.Time) func() *detect.Fold {
	f := detect.New(hooked{}, detect.Options{})
	if !stopped.IsZero() {
		f.Apply(agent.Fact{Kind: agent.TurnStarted, Source: agent.SourceHook, Turn: "t", Time: stopped.Add(-time.Hour)})
		f.Apply(agent.Fact{Kind: agent.TurnEnded, How: agent.Interrupted, Source: agent.SourceHook, Turn: "t", Time: stopped})
	}
	return func() *detect.Fold { return f }
}

// hooked is the driver of an agent whose hooks report its turns.
type hooked struct{ agent.Driver }

func (hooked) Table() agent.Table {
	hook := []agent.Witness{{Source: agent.SourceHook}}
	return agent.Table{agent.MoveWork: hook, agent.MoveDone: hook, agent.MoveReady: hook}
}

// TestRefusedLater: on a busy machine an agent may read a key before a hook's answer that was there
// first. A refusal by such a key is never reported as the answer's.
func TestRefusedLater(t *testing.T) {
	opened := time.Unix(100, 0)
	begun := opened.Add(2 * time.Second)
	for _, c := range []struct {
		name      string
		how       string
		outcome   string
		typed     time.Duration // after the hook's bytes
		stopped   time.Duration // the turn's end, after the hook's bytes; 0: it goes on
		waits     bool          // the judgement waits for the turn's end
		confirmed bool
	}{
		{"no key", "gone", agent.OutcomeAccepted, -time.Hour, 0, false, true},
		{"a key, and the work goes on", "gone", agent.OutcomeAccepted, 30 * time.Millisecond, 0, true, true},
		{"a key, and the work stops after the dialog is gone", "gone", agent.OutcomeAccepted, 30 * time.Millisecond, 500 * time.Millisecond, true, false},
		{"a key, and the work has stopped", "gone", agent.OutcomeAccepted, 30 * time.Millisecond, 100 * time.Millisecond, false, false},
		{"a key, and the work has its end", "answered", agent.OutcomeAccepted, 30 * time.Millisecond, 0, false, true},
		{"no key, and the work stops", "gone", agent.OutcomeAccepted, -time.Hour, 100 * time.Millisecond, false, true},
		{"a key after a refusal", "gone", agent.OutcomeDenied, 30 * time.Millisecond, 100 * time.Millisecond, false, true},
	} {
		given := begun.Add(20 * time.Millisecond)
		gone := given.Add(200 * time.Millisecond)
		fold := foldOf(time.Time{})
		ends := given.Add(c.stopped)
		if c.stopped > 0 && !ends.After(gone) {
			fold = foldOf(ends)
		}
		ps := New(Env{Env: loop.Env{Now: func() time.Time { return gone }, Standing: func() loop.Standing { return loop.Standing{} }}, GoesOn: func() bool { return true }, Fold: func() *detect.Fold { return fold() }})
		ps.followed, ps.othersAt = true, given.Add(c.typed)
		a := &answering{Prompt: "p", Hook: "7", Outcome: c.outcome, Opened: opened, At: begun, Given: given, settleBy: begun.Add(answerSettles)}
		ps.follow(a)
		ps.Closes(&detect.Resolution{How: c.how, Request: &agent.Request{ID: "p"}})
		if a.judged == c.waits || c.waits && !a.settleBy.Equal(gone.Add(refusalShows)) {
			t.Errorf("%s: judged %v, by %v", c.name, a.judged, a.settleBy)
		}
		if c.stopped > 0 && ends.After(gone) {
			fold = foldOf(ends)
		}
		if e := ps.judgeAnswer(a); e.Confirmed != c.confirmed {
			t.Errorf("%s: %+v", c.name, e)
		}
	}
}

// TestUnknownWhose: only the screen shows that the dialog is gone, and another client's key came not long before.
func TestUnknownWhose(t *testing.T) {
	opened := time.Unix(100, 0)
	begun, given := opened.Add(4*time.Second), opened.Add(4050*time.Millisecond)
	for _, c := range []struct {
		name      string
		how       string
		outcome   string
		typed     time.Duration // after the answer was started
		hook      string
		confirmed bool
		elsewhere bool
	}{
		{"an agent that reports the answer", "answered", agent.OutcomeAccepted, -1700 * time.Millisecond, "7", true, false},
		{"a key that may have been unread", "gone", agent.OutcomeAccepted, -1700 * time.Millisecond, "7", false, false},
		{"a key that was read", "gone", agent.OutcomeAccepted, -2600 * time.Millisecond, "7", true, false},
		{"a key that was the answer", "gone", agent.OutcomeAccepted, -500 * time.Millisecond, "7", false, true},
		{"a key after ours", "gone", agent.OutcomeAccepted, 100 * time.Millisecond, "7", true, false},
		{"two refusals, which have the same effect", "gone", agent.OutcomeDenied, -1700 * time.Millisecond, "7", true, false},
		{"no key for this prompt", "gone", agent.OutcomeAccepted, -5 * time.Second, "7", true, false},
		{"keys, pressed while the dialog was on the screen", "gone", agent.OutcomeAccepted, -1700 * time.Millisecond, "", true, false},
	} {
		ps := &Prompts{asked: asked{othersAt: begun.Add(c.typed)}, env: Env{GoesOn: func() bool { return true }, Fold: foldOf(time.Time{})}}
		a := &answering{Hook: c.hook, Outcome: c.outcome, Opened: opened, At: begun, Given: given, Closed: &closing{How: c.how}}
		e := ps.judgeAnswer(a)
		if elsewhere := e.Outcome == agent.OutcomeElsewhere; e.Confirmed != c.confirmed || elsewhere != c.elsewhere {
			t.Errorf("%s: %+v", c.name, e)
		}
	}
}

// TestOthersTyped: the time of another client's key, and whether the work stops, decide whose answer it was.
func TestOthersTyped(t *testing.T) {
	opened := time.Unix(100, 0)
	begun, given := opened.Add(2*time.Second), opened.Add(2050*time.Millisecond)
	for _, c := range []struct {
		name    string
		hook    string
		outcome string
		typed   time.Duration // against given
		stopped bool
		theirs  bool
	}{
		{"no key for this prompt", "7", agent.OutcomeAccepted, -3 * time.Second, false, false},
		{"a key just before the hook's bytes, and it works on", "7", agent.OutcomeAccepted, -time.Millisecond, false, false},
		{"a key just before the hook's bytes, and it stopped", "7", agent.OutcomeAccepted, -time.Millisecond, true, true},
		{"a key just before the answer was started", "7", agent.OutcomeAccepted, -51 * time.Millisecond, false, true},
		{"a key just after the hook's bytes, and it works on", "7", agent.OutcomeAccepted, time.Millisecond, false, false},
		{"a key just after the hook's bytes, and it stopped", "7", agent.OutcomeAccepted, time.Millisecond, true, true},
		{"a key just after a refusal", "7", agent.OutcomeDenied, time.Millisecond, true, true},
		{"a key too late to be read first", "7", agent.OutcomeAccepted, 10 * time.Millisecond, true, false},
		{"a key that would have shown", "7", agent.OutcomeAccepted, -1500 * time.Millisecond, false, false},
		{"a key that would have shown, and it stopped", "7", agent.OutcomeAccepted, -1500 * time.Millisecond, true, true},
		{"a key before ours", "", agent.OutcomeAccepted, -time.Millisecond, false, true},
		{"a key after ours", "", agent.OutcomeAccepted, time.Millisecond, true, false},
	} {
		ps := &Prompts{asked: asked{othersAt: given.Add(c.typed)}, env: Env{Fold: foldOf(time.Time{})}}
		a := &answering{Hook: c.hook, Outcome: c.outcome, Opened: opened, At: begun, Given: given, Closed: &closing{Stopped: c.stopped}}
		if theirs := ps.othersTyped(a); theirs != c.theirs {
			t.Errorf("%s: theirs is %v", c.name, theirs)
		}
	}
}

// TestJudgedByTheNextServer: a server that is killed while it waits for a refused turn's end leaves the
// judgement to the next one, which knows how the prompt was closed and that a person had typed.
func TestJudgedByTheNextServer(t *testing.T) {
	opened := time.Unix(100, 0)
	begun := opened.Add(2 * time.Second)
	given := begun.Add(20 * time.Millisecond)
	for _, c := range []struct {
		name      string
		typed     time.Duration // against the hook's bytes
		stopped   bool
		down      time.Duration // how long no server runs
		confirmed bool
	}{
		{"the work goes on", 30 * time.Millisecond, false, 100 * time.Millisecond, true},
		{"the work has stopped", 30 * time.Millisecond, true, 100 * time.Millisecond, false},
		{"the work goes on, a long time later", 30 * time.Millisecond, false, time.Hour, true},
		{"the work has stopped, a long time later", 30 * time.Millisecond, true, time.Hour, false},
	} {
		now, fold := given.Add(200*time.Millisecond), foldOf(time.Time{})
		var events []respondEvent
		env := Env{
			Env: loop.Env{
				Now: func() time.Time { return now }, Standing: func() loop.Standing { return loop.Standing{} },
				Note: func(_ string, data any) uint64 { events = append(events, data.(respondEvent)); return 0 },
			},
			GoesOn: func() bool { return true }, Fold: func() *detect.Fold { return fold() }, Sweep: func() {},
			Pass: func(time.Time) {}, Apply: func(detect.Result) {}, Clock: func(at time.Time) time.Time { return at },
		}
		ps := New(env)
		ps.followed, ps.othersAt = true, given.Add(c.typed)
		ps.follow(&answering{Prompt: "p", Hook: "7", Outcome: agent.OutcomeAccepted, Opened: opened, At: begun, Given: given, settleBy: begun.Add(answerSettles)})
		ps.Closes(&detect.Resolution{How: "gone", Request: &agent.Request{ID: "p"}})
		data, err := ps.Save()
		if err != nil {
			t.Fatal(err)
		}

		now = now.Add(c.down)
		next := New(env)
		if err := next.Restore(data, true); err != nil {
			t.Fatal(err)
		}
		if next.settleAnswers(now); len(events) > 0 {
			t.Errorf("%s: judged before what came meanwhile was read: %+v", c.name, events)
		}
		if c.stopped {
			fold = foldOf(begun.Add(500 * time.Millisecond))
		}
		for range 2 { // the first has all read that there is
			now = next.answersDue()
			next.settleAnswers(now)
		}
		if len(events) != 1 || !events[0].Delivered || events[0].Confirmed != c.confirmed {
			t.Errorf("%s: %+v", c.name, events)
		}
	}
}

// TestAllowedByAKey: the record of the last key of an answer that allows a call has the fold forget that call at its end.
// Another client's key, a key before the last, and a refusal don't.
func TestAllowedByAKey(t *testing.T) {
	for _, c := range []struct {
		verb, outcome string
		last, allowed bool
	}{
		{verbRespond, agent.OutcomeAccepted, true, true},
		{verbRespond, agent.OutcomeAccepted, false, false},
		{verbRespond, agent.OutcomeDenied, true, false},
		{"input", "", true, false},
	} {
		now := time.Unix(100, 0)
		fold := detect.New(asker{}, detect.Options{Start: now, PromptID: func(uint64, bool) string { return "p" }})
		fold.Apply(agent.Fact{Kind: agent.Asked, Source: agent.SourceHook, Time: now, Request: &agent.Request{Type: agent.PromptPermission}})
		a := &answering{Prompt: "p", Verb: c.verb, Outcome: c.outcome}
		data, err := json.Marshal(hold.InputData{Bytes: 1, Mark: a.mark(c.last)})
		if err != nil {
			t.Fatal(err)
		}
		ps := New(Env{
			Env:  loop.Env{Now: func() time.Time { return now }},
			Mark: func() loop.Mark { return loop.Mark{Verb: c.verb} }, Fold: func() *detect.Fold { return fold },
			Pass: func(time.Time) {}, Apply: func(detect.Result) {}, Clock: func(at time.Time) time.Time { return at },
		})
		ps.followed = true
		ps.follow(a)
		ps.Observe(hold.Record{N: 1, Kind: hold.KindInput, Data: data, Time: api.At(now)})
		saved, err := fold.Checkpoint()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(saved), `"Allowed":true`); got != c.allowed {
			t.Errorf("%+v: allowed %v", c, got)
		}
	}
}

// drawer is an agent whose dialog leaves out the folder of a call.
type drawer struct{ asker }

func (drawer) Table() agent.Table {
	table := asker{}.Table()
	table[agent.MoveAsk] = append(table[agent.MoveAsk], agent.Witness{Source: agent.SourceScreen})
	return table
}

func (drawer) Match(*agent.Dialog, *agent.Request) agent.Match { return agent.WholeMatch }
func (drawer) Fill(*agent.Request, *agent.Dialog)              {}
func (drawer) Undrawn(string, json.RawMessage, string) string  { return "folder: /srv" }
func (drawer) FromDialog(*agent.Dialog) *agent.Request         { return drawnPrompt() }
func (drawer) Waiting(*agent.Fact) *agent.Request              { return drawnPrompt() }

func drawnPrompt() *agent.Request {
	p := &agent.Request{Type: agent.PromptPermission, Tool: agent.Pointer("Bash"), Channel: agent.ChannelKeys}
	p.SetInput("ls")
	return p
}

// drawnAsk is a fold with a prompt whose dialog is on the screen. hook waits for its answer, if it isn't empty.
func drawnAsk(now time.Time, hook string) *detect.Fold {
	fold := detect.New(drawer{}, detect.Options{Start: now, PromptID: func(uint64, bool) string { return "p" }})
	fold.Apply(agent.Fact{Kind: agent.ToolStarted, Source: agent.SourceLog, Time: now, Tool: "Bash", Input: []byte(`"ls"`), Request: drawnPrompt()})
	fold.Apply(agent.Fact{Kind: agent.Asked, Source: agent.SourceHook, Time: now, Tool: "Bash", Input: []byte(`"ls"`), Request: drawnPrompt(), Hook: hook})
	fold.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Time: now, Reading: &agent.Reading{
		Dialog: &agent.Dialog{Type: agent.PromptPermission, Tool: "Bash", Body: "ls"},
	}})
	return fold
}

// TestReportOfTheFocus: a key of an answer with more keys reached the dialog on the screen, however long that has been quiet. A report of
// the focus, which proves that the agent reads its terminal, answers nothing.
func TestReportOfTheFocus(t *testing.T) {
	for _, wait := range []time.Duration{0, time.Hour} {
		for _, focus := range []bool{false, true} {
			now := time.Unix(100, 0)
			fold := drawnAsk(now, "")
			ps := New(Env{
				Env:  loop.Env{Now: func() time.Time { return now }, Driver: func() agent.Driver { return drawer{} }},
				Mark: func() loop.Mark { return loop.Mark{Verb: verbRespond} }, Fold: func() *detect.Fold { return fold },
				Apply: func(detect.Result) {}, Clock: func(at time.Time) time.Time { return at },
			})
			ps.followed = true
			a := &answering{Prompt: "p", Verb: verbRespond, Outcome: agent.OutcomeDenied, Focus: focus}
			ps.follow(a)
			data, err := json.Marshal(hold.InputData{Bytes: 1, Mark: a.mark(false)})
			if err != nil {
				t.Fatal(err)
			}
			now = now.Add(wait)
			ps.Observe(hold.Record{N: 1, Kind: hold.KindInput, Data: data, Time: api.At(now)})
			var saved struct{ Look struct{ Taken time.Time } }
			if data, err = fold.Checkpoint(); err == nil {
				err = json.Unmarshal(data, &saved)
			}
			if want := map[bool]time.Time{false: now}[focus]; err != nil || !saved.Look.Taken.Equal(want) {
				t.Errorf("focus %v, after %v: %v, taken at %v, not %v", focus, wait, err, saved.Look.Taken, want)
			}
		}
	}
}

// TestAnswersOfADialog: a key of an answer or of a client reaches the dialog on the screen, and so does an allowance that a hook
// has taken. A message that Berth types isn't meant for a dialog, and a hook that has taken a refusal may be a forged one.
func TestAnswersOfADialog(t *testing.T) {
	const hookID = 7
	for _, c := range []struct {
		by, outcome string
		counts      bool
	}{
		{verbRespond, agent.OutcomeAccepted, true}, {verbRespond, agent.OutcomeDenied, true},
		{"input", "", true}, {"keys", "", true}, {"attach", "", true}, {"focus", "", false}, {"nudge", "", false}, {"tell", "", false},
		{"hook", agent.OutcomeAccepted, true}, {"hook", agent.OutcomeDenied, false},
	} {
		now := time.Unix(100, 0)
		hook := ""
		if c.by == "hook" {
			hook = loop.HookID(hookID)
		}
		fold := drawnAsk(now, hook)
		a := &answering{Prompt: "p", Verb: c.by, Outcome: c.outcome}
		ps := New(Env{
			Env: loop.Env{Now: func() time.Time { return now }, Driver: func() agent.Driver { return drawer{} }},
			Mark: func() loop.Mark {
				return loop.Mark{Verb: c.by, Typed: c.by == "attach" || c.by == "focus", Focus: c.by == "focus"}
			}, Fold: func() *detect.Fold { return fold },
			Pass: func(time.Time) {}, Apply: func(detect.Result) {}, Clock: func(at time.Time) time.Time { return at },
		})
		ps.followed = true
		kind, of := hold.KindInput, any(hold.InputData{Bytes: 1, Mark: a.mark(true)})
		if c.by == "hook" {
			a.Hook = loop.HookID(hookID)
			kind, of = hold.KindDelivered, hold.GoneData{Hook: hookID}
		}
		if c.outcome != "" {
			ps.follow(a)
		}
		data, err := json.Marshal(of)
		if err != nil {
			t.Fatal(err)
		}
		ps.Observe(hold.Record{N: 1, Kind: kind, Data: data, Time: api.At(now)})
		saved, err := fold.Checkpoint()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(saved), `"Given":1,"Of":1`); got != c.counts {
			t.Errorf("%s %s: counted %v: %s", c.by, c.outcome, got, saved)
		}
	}
}
