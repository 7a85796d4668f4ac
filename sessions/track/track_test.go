package track

import (
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/api"
	"berth/detect"
	"berth/detect/tail"
	"berth/sessions/events"
	"berth/sessions/hold"
	"berth/sessions/loop"
	"berth/terminal"
)

// speaker is an agent whose hooks report facts as they are.
type speaker struct{ agent.Driver }

func (speaker) Name() string { return "speaker" }
func (speaker) Table() agent.Table {
	hook := []agent.Witness{{Source: agent.SourceHook}}
	return agent.Table{agent.MoveReady: hook, agent.MoveWork: hook, agent.MoveDone: hook, agent.MoveFail: hook, agent.MoveAsk: hook, agent.MoveAnswer: hook}
}

func (speaker) Hook(data []byte) ([]agent.Fact, error) {
	var f agent.Fact
	err := json.Unmarshal(data, &f)
	f.Source = agent.SourceHook
	return []agent.Fact{f}, err
}

func (speaker) Log(data []byte) ([]agent.Fact, error) {
	var f agent.Fact
	err := json.Unmarshal(data, &f)
	f.Source = agent.SourceLog
	return []agent.Fact{f}, err
}

func (speaker) Stream(data []byte) ([]agent.Fact, error) {
	var f agent.Fact
	err := json.Unmarshal(data, &f)
	f.Source = agent.SourceStream
	return []agent.Fact{f}, err
}

// bench is a track with an Env that keeps what the track does.
type bench struct {
	*Track
	steps   [][]string // types of the events of each step
	settled []uint64   // numbers that SettleTaken got
	written uint64     // newest record that has its events
	taken   []events.Event
}

func newBench() *bench {
	b := &bench{}
	seq := uint64(0)
	env := Env{
		Env: loop.Env{ID: "s", Now: time.Now, Log: slog.New(slog.DiscardHandler), SaveSoon: func() {}, Link: func() *hold.Link { return nil }},
		Peers: Peers{
			Closes: func(*detect.Resolution) (*loop.By, []events.Event) { return nil, nil }, ShownOnScreen: func(*agent.Request) bool { return false },
			Hooked: func() {}, Asks: func(uint64) {}, ReleaseHooks: func() {},
			Observe: func(agent.Fact) {}, Taken: func() []events.Event { return b.taken }, SettleTaken: func(n uint64) { b.settled = append(b.settled, n) },
			FirstWaiting: func() string { return "" },
			Gate:         func(f agent.Fact, _ uint64, _ bool) (agent.Fact, bool, []events.Event) { return f, false, nil },
			KeepLog:      func(agent.Fact, uint64, bool) {}, Begins: func(string, uint64) {},
		},
		Spec: func() Spec { return Spec{} }, Logs: func() tail.Below { return tail.Below{} }, Learn: func(string, bool) error { return nil },
		Fresh: func() agent.Driver { return speaker{} }, Child: func() Child { return Child{PID: 1} }, Exit: func() *api.Exit { return nil },
		Terminal: func() *terminal.Terminal { return nil }, Dirty: func() {}, TurnStarted: func() {}, TurnRecalled: func(time.Time) {}, Opened: time.Now(),
		Written: func(n uint64) bool { return n <= b.written }, Next: func() uint64 { return seq + 1 },
		Append: func(batch []events.Event) (done []events.Event) {
			var step []string
			for _, e := range batch {
				seq++
				e.Seq = seq
				done, step = append(done, e), append(step, e.Type)
			}
			b.steps = append(b.steps, step)
			return done
		},
	}
	b.Track = New(env)
	b.Begin(time.Now())
	return b
}

// saved is a bench that has what this one saves.
func (b *bench) saved(t *testing.T) *bench {
	t.Helper()
	data, err := b.Save()
	if err != nil {
		t.Fatal(err)
	}
	next := newBench()
	next.End()
	if err := next.Restore(data, true); err != nil {
		t.Fatal(err)
	}
	return next
}

// next is the next server's bench, which continues now to follow a program of that start.
func (b *bench) next(t *testing.T, started time.Time) *bench {
	t.Helper()
	next := b.saved(t)
	if err := next.Resume(started, time.Now()); err != nil {
		t.Fatal(err)
	}
	return next
}

func (b *bench) record(t *testing.T, n uint64, f agent.Fact) loop.Outcome {
	t.Helper()
	payload, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(hold.HookData{Event: "x", Payload: payload})
	if err != nil {
		t.Fatal(err)
	}
	told, err := b.Record(hold.Record{N: n, Kind: hold.KindHook, Time: api.At(time.Now()), Data: data})
	if err != nil {
		t.Fatal(err)
	}
	return told
}

// TestHookIsOneStep: a hook's event, the message that it confirms and the state that follows are
// appended in one step, in this order. Each gets to know the number of its own event.
func TestHookIsOneStep(t *testing.T) {
	b := newBench()
	told := b.record(t, 1, agent.Fact{Kind: agent.TurnStarted, Turn: "1"})
	b.taken = []events.Event{{Type: "nudge"}}
	b.Emit(told.Results, told.Events...)
	if want := []string{"hook", "nudge", "state_change"}; len(b.steps) != 1 || !slices.Equal(b.steps[0], want) {
		t.Errorf("steps %v, want one of %v", b.steps, want)
	}
	if v := b.View(); v.Now != agent.Working || v.StateSeq != 3 || v.Hooks.Told != 1 || !slices.Equal(b.settled, []uint64{2}) {
		t.Errorf("%s by event %d, %d hooks, settled %v", v.Now, v.StateSeq, v.Hooks.Told, b.settled)
	}
}

// TestHookOfTheServerBefore: a hook that has its events is applied to the fold alone. It isn't counted again,
// and its prompt keeps its id.
func TestHookOfTheServerBefore(t *testing.T) {
	b := newBench()
	b.written = 7
	b.Recall(events.Line{Type: "hook", Cause: 7, Seq: 40})
	told := b.record(t, 7, agent.Fact{Kind: agent.Asked, Request: &agent.Request{Type: agent.PromptPermission}})
	b.Reapply(told.Results)
	if len(b.steps) != 0 || b.View().Hooks.Told != 0 || !slices.Equal(b.settled, []uint64{0}) {
		t.Errorf("steps %v, %d hooks, settled %v", b.steps, b.View().Hooks.Told, b.settled)
	}
	if r := b.View().Request; r == nil || !strings.HasPrefix(r.ID, "s-") || !strings.HasSuffix(r.ID, "-40") {
		t.Errorf("the prompt is %+v", r)
	}
}

// drawer is a speaker whose dialogs are asked as they are drawn, and show only a part of what hooks
// report.
type drawer struct{ speaker }

func (drawer) Table() agent.Table {
	t := speaker{}.Table()
	t[agent.MoveAsk] = append(t[agent.MoveAsk], agent.Witness{Source: agent.SourceScreen})
	return t
}
func (drawer) FromDialog(d *agent.Dialog) *agent.Request {
	return &agent.Request{Type: d.Type, Title: agent.Pointer(d.Title)}
}
func (drawer) Fill(*agent.Request, *agent.Dialog)                      {}
func (drawer) Match(*agent.Dialog, *agent.Request) agent.Match         { return agent.PartMatch }
func (drawer) Undrawn(tool string, _ json.RawMessage, _ string) string { return tool }

// TestIDOfADialogBesideAHook: a dialog's prompt gets a new id when a hook reports what the dialog
// doesn't draw. A server that was killed then applies the hook's event again, without the dialog,
// and the hook's own prompt must not get the id under which the dialog was shown.
func TestIDOfADialogBesideAHook(t *testing.T) {
	hook := agent.Fact{Kind: agent.Asked, Tool: "sh", Request: &agent.Request{Type: agent.PromptPermission, Tool: agent.Pointer("sh")}}
	b := newBench()
	b.d.driver, b.d.waking.live = drawer{}, true
	b.d.fold = detect.New(drawer{}, b.options(b.d, time.Now()))
	b.facts([]agent.Fact{{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: &agent.Reading{Dialog: &agent.Dialog{Type: agent.PromptPermission, Title: "ls"}}}})
	before := b.View().Request
	told := b.record(t, 7, hook)
	seq := b.env.Next()
	b.Emit(told.Results, told.Events...)
	shown := b.View().Request
	if before == nil || shown == nil || shown.ID == before.ID || agent.Value(shown.Title) != "ls" {
		t.Fatalf("the dialog is %+v, and then %+v", before, shown)
	}
	b = newBench()
	b.written = 7
	b.Recall(events.Line{Type: "hook", Cause: 7, Seq: seq})
	b.record(t, 7, hook)
	if again := b.View().Request; again == nil || again.ID == shown.ID {
		t.Errorf("%s was the dialog %q, and is now %+v", shown.ID, agent.Value(shown.Title), again)
	}
}

// asker is a speaker whose log says what it asks, and whose dialogs leave out a part of that.
type asker struct{ drawer }

func (asker) Table() agent.Table {
	t := drawer{}.Table()
	t[agent.MoveAsk] = append(t[agent.MoveAsk], agent.Witness{Source: agent.SourceLog})
	return t
}

// TestIDsOfServers: a server that was started after a kill applies entries of the log and hooks again whose events are
// written. What it opens then has no event, and an answer to it must not be one to what another server opens so.
func TestIDsOfServers(t *testing.T) {
	shown := map[string]string{}
	for _, title := range []string{"ls", "rm -rf /"} {
		begun := time.Now()
		asks := agent.Fact{Kind: agent.Asked, At: begun.Add(-time.Second), Tool: title, Request: &agent.Request{Type: agent.PromptPermission, Title: &title}}
		entry, err := json.Marshal(asks)
		if err != nil {
			t.Fatal(err)
		}
		for name, apply := range map[string]func(b *bench){
			"an entry": func(b *bench) { b.applyEntry(b.d, &b.d.files.log, tail.Line{Data: entry, Next: 1}) },
			"a hook whose event isn't known": func(b *bench) {
				b.written = 7
				b.record(t, 7, asks)
			},
			"a dialog beside a hook": func(b *bench) {
				b.d.waking.live = true
				b.facts([]agent.Fact{{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: &agent.Reading{Dialog: &agent.Dialog{Type: agent.PromptPermission, Title: title}}}})
				b.written = 7
				b.Recall(events.Line{Type: "hook", Cause: 7, Seq: 40})
				b.record(t, 7, agent.Fact{Kind: agent.Asked, Tool: title, Request: &agent.Request{Type: agent.PromptPermission, Tool: &title}})
			},
		} {
			b := newBench()
			b.d.driver, b.recalledAt = asker{}, begun
			b.d.fold = detect.New(asker{}, b.options(b.d, begun.Add(-time.Minute)))
			apply(b)
			p := b.View().Request
			if p == nil || agent.Value(p.Title) != title {
				t.Fatalf("%s: %+v", name, p)
			}
			if before, ok := shown[p.ID]; ok {
				t.Errorf("%s: %s is %q, and was %q", name, p.ID, title, before)
			}
			shown[p.ID] = title
		}
	}
}

// TestIDsOfPrograms: the number of an event can come back, after a power loss or a restored backup. The id of a prompt doesn't, because
// another program asks then.
func TestIDsOfPrograms(t *testing.T) {
	ids := map[string]Child{}
	for _, child := range []Child{{PID: 7, Start: "100@boot"}, {PID: 7, Start: "100@other"}, {PID: 7, Start: "101@boot"}, {PID: 8, Start: "100@boot"}} {
		for range 2 {
			b := newBench()
			b.env.Child = func() Child { return child }
			b.record(t, 7, agent.Fact{Kind: agent.Asked, Request: &agent.Request{Type: agent.PromptPermission}})
			p := b.View().Request
			if p == nil {
				t.Fatal("no prompt")
			}
			if other, ok := ids[p.ID]; ok && other != child {
				t.Errorf("%s is of %+v and of %+v", p.ID, child, other)
			}
			ids[p.ID] = child
		}
	}
	if len(ids) != 4 {
		t.Errorf("ids %v: want one for each program", ids)
	}
}

// TestDeepReports: a report that is as deep as the decoder takes isn't read, because the checkpoint with it couldn't be read.
func TestDeepReports(t *testing.T) {
	for depth, reads := range map[int]bool{900: true, 1000: false, 9900: false} {
		raw := strings.Repeat("[", depth) + `"[\\\"{"` + strings.Repeat("]", depth)
		asks := agent.Fact{Kind: agent.Asked, At: time.Now(), Tool: "x", Input: json.RawMessage(raw), Request: &agent.Request{Type: agent.PromptPermission}}
		entry, err := json.Marshal(asks)
		if err != nil {
			t.Fatal(err)
		}
		b := newBench()
		b.record(t, 1, asks)
		if p := b.View().Request; (p != nil) != reads {
			t.Errorf("a hook with %d lists: %+v", depth, p)
		}
		b = newBench()
		b.d.driver = asker{}
		b.d.fold = detect.New(asker{}, b.options(b.d, time.Now().Add(-time.Minute)))
		b.applyEntry(b.d, &b.d.files.log, tail.Line{Data: entry, Next: 1})
		if p := b.View().Request; (p != nil) != reads {
			t.Errorf("an entry with %d lists: %+v", depth, p)
		}
	}
}

// TestOlderThanTheLastEvent: after a server was killed, the state of its last event isn't undone by a checkpoint from before it.
// A source may say later what that server knew. It has a second for that.
func TestOlderThanTheLastEvent(t *testing.T) {
	b := newBench()
	b.env.Live, b.env.Note = func() bool { return true }, func(string, any) uint64 { return 0 }
	now := time.Now()
	idle := b.d.fold.Status()
	b.state, b.recalledAt = agent.Working, idle.Since.Add(time.Millisecond)
	b.d.waking = waking{live: true, at: now}
	if b.detect(now); b.State() != agent.Working {
		t.Errorf("the state is %s, as in the checkpoint", b.State())
	}
	if b.detect(now.Add(WakesWithin)); b.State() != idle.State {
		t.Errorf("the state is %s a second later", b.State())
	}
}

// TestDueBeforeTheLastEvent: a checkpoint has a turn whose end must hold for a while. The server after a kill emits no event for
// that end if an event after the checkpoint is later.
func TestDueBeforeTheLastEvent(t *testing.T) {
	b := newBench()
	b.d.fold.Apply(agent.Fact{Kind: agent.ConversationStarted, Source: agent.SourceHook, Time: time.Now()})
	b.d.fold.Apply(agent.Fact{Kind: agent.TurnStarted, Source: agent.SourceHook, Turn: "1", Time: time.Now()})
	b.d.fold.Apply(agent.Fact{Kind: agent.LevelIs, Source: agent.SourceTitle, Level: agent.LevelBusy, Time: time.Now()})
	b.d.fold.Apply(agent.Fact{Kind: agent.TurnEnded, Source: agent.SourceHook, Turn: "1", Time: time.Now()})
	b.d.fold.Apply(agent.Fact{Kind: agent.LevelIs, Source: agent.SourceTitle, Level: agent.LevelIdle, Time: time.Now()})
	if b.d.fold.Status().State != agent.Working || b.d.fold.Deadline().IsZero() {
		t.Fatalf("the turn's end doesn't have to hold: %+v", b.d.fold.Status())
	}
	next, taken := b.saved(t), time.Now()
	at := b.d.fold.Deadline().Add(time.Minute)
	next.env.Now = func() time.Time { return at.Add(time.Second) }
	for i, state := range []agent.State{agent.Idle, agent.Working} {
		raw, err := json.Marshal(StateEvent{Next: string(state)})
		if err != nil {
			t.Fatal(err)
		}
		next.Recall(events.Line{Type: eventState, Seq: uint64(i + 1), Time: at, Raw: raw})
	}
	if err := next.Resume(taken, taken); err != nil {
		t.Fatal(err)
	}
	entry, err := json.Marshal(agent.Fact{Kind: agent.TurnStarted, Turn: "2", At: at.Add(time.Millisecond)})
	if err != nil {
		t.Fatal(err)
	}
	next.steps = nil
	next.applyEntry(next.d, &next.d.files.log, tail.Line{Data: entry, Next: 1})
	if len(next.steps) > 0 || next.State() != agent.Working {
		t.Errorf("the state is %s after the events %v", next.State(), next.steps)
	}
}

// TestSaveAndResume: the next server continues from what Save returned.
func TestSaveAndResume(t *testing.T) {
	b := newBench()
	told := b.record(t, 1, agent.Fact{Kind: agent.TurnStarted, Turn: "1"})
	b.Emit(told.Results, told.Events...)
	next := b.next(t, time.Now())
	if v := next.View(); v.Now != agent.Working || v.StateSeq != b.View().StateSeq || next.Live() || next.Fold().Status().Turn != "1" {
		t.Errorf("%+v, live %v, turn %q", v, next.Live(), next.Fold().Status().Turn)
	}
	if err := next.Resume(time.Now(), time.Now()); err == nil {
		t.Error("a checkpoint was used twice")
	}
}

// TestLastWordsLoggedLate: a log may have a turn's end before its message. Then the last message is its newest
// part, not the first.
func TestLastWordsLoggedLate(t *testing.T) {
	b := newBench()
	begun := time.Now()
	for i, f := range []agent.Fact{
		{Kind: agent.TurnEnded, How: agent.Completed, At: begun.Add(3 * time.Second)},
		{Kind: agent.TurnStarted, Turn: "1", At: begun.Add(time.Second)},
		{Kind: agent.Acting, Text: "I look.", At: begun.Add(2 * time.Second), Usage: &agent.Usage{Answer: "a"}},
		{Kind: agent.Acting, Text: "It is", At: begun.Add(2 * time.Second), Usage: &agent.Usage{Answer: "b"}},
		{Kind: agent.Acting, Text: "done.", At: begun.Add(2 * time.Second), Usage: &agent.Usage{Answer: "b"}},
	} {
		data, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		b.applyEntry(b.d, &b.d.files.log, tail.Line{Data: data, Next: int64(i + 1)})
	}
	if said := b.View().Said; said == nil || said.Text != "It is\n\ndone." || said.Turn != "1" {
		t.Errorf("the last message is %+v", said)
	}
}

// TestFirstTurnInAnyOrder: when an agent creates its session log, the entries of a short first turn may come in
// any order. In each one its last message and its usage are known.
func TestFirstTurnInAnyOrder(t *testing.T) {
	begun := time.Now().Add(-time.Minute)
	entries := []agent.Fact{
		{Kind: agent.TurnStarted, Turn: "1", At: begun},
		{Kind: agent.Acting, Text: "It is", At: begun.Add(time.Second), Usage: &agent.Usage{Answer: "a", Tokens: agent.Tokens{Output: 3}}},
		{Kind: agent.Acting, Text: "done.", At: begun.Add(time.Second), Usage: &agent.Usage{Answer: "a", Tokens: agent.Tokens{Output: 3}}},
		{Kind: agent.TurnEnded, How: agent.Completed, At: begun.Add(2 * time.Second)},
	}
	for _, order := range []string{"0123", "1023", "1203", "3012", "3102", "3120", "1320", "1230"} { // the parts of an answer are in order
		t.Run(order, func(t *testing.T) {
			b := newBench()
			for n, i := range order {
				data, err := json.Marshal(entries[i-'0'])
				if err != nil {
					t.Fatal(err)
				}
				b.applyEntry(b.d, &b.d.files.log, tail.Line{Data: data, Next: int64(n + 1)})
			}
			if said := b.View().Said; said == nil || said.Text != "It is\n\ndone." || said.Turn != "1" || said.Usage == nil || said.Usage.Output != 3 || said.Usage.Requests != 1 {
				t.Errorf("the last message is %+v", said)
			}
			next := agent.Fact{Kind: agent.TurnStarted, Turn: "2", At: begun.Add(3 * time.Second)}
			if b.d.files.log.ledger.Enter(&next) {
				t.Error("a later turn takes the first one's answers")
			}
		})
	}
}

// TestResultPrintedLast: a printed result, which doesn't name its turn, may come after the hook that ended the
// turn. The last message keeps its turn, and so its usage.
func TestResultPrintedLast(t *testing.T) {
	b := newBench()
	b.record(t, 1, agent.Fact{Kind: agent.TurnStarted, Turn: "1"})
	b.record(t, 2, agent.Fact{Kind: agent.TurnEnded, How: agent.Completed, Turn: "1", Text: "Done."})
	data, err := json.Marshal(agent.Fact{Kind: agent.TurnEnded, How: agent.Completed, Text: "Done.", Usage: &agent.Usage{Whole: true, Answers: 1, Model: "m"}})
	if err != nil {
		t.Fatal(err)
	}
	b.applyStreamLine(b.d, data, 1)
	if said := b.View().Said; said == nil || said.Turn != "1" || said.Usage == nil {
		t.Errorf("the last message is %+v", said)
	}
}

// TestOutputPollsTheForeground: the program may have started another one when it prints, so the
// foreground is polled soon and not with the quiet sessions.
func TestOutputPollsTheForeground(t *testing.T) {
	b := newBench()
	now := time.Unix(1000, 0)
	b.front.looked = now
	if due := b.Due(now); due.Sub(now) != lookQuiet {
		t.Fatalf("a quiet session is polled in %s", due.Sub(now))
	}
	if b.Printed(); b.Due(now).Sub(now) != lookActive {
		t.Errorf("after output it is polled in %s", b.Due(now).Sub(now))
	}
	if b.front.looks != looksAfterOutput {
		t.Errorf("after output it is polled %d times", b.front.looks)
	}
	b.Active()
	if b.Printed(); b.front.looks != looksAfterInput {
		t.Errorf("the echo of input leaves %d polls", b.front.looks)
	}
}
