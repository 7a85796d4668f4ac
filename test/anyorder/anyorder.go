// Package anyorder plays random orders of what an agent, the people at its prompts and another process of its session do, and
// checks each key that would answer a dialog.
package anyorder

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/detect"
)

// Event is a report about a call. Any process of the session can make each, about any call.
type Event int

// The events. An agent has some of them.
const (
	Logged  Event = iota // the session log has the call
	Began                // a hook reports its start
	Asks                 // a hook asks for its permission, and may wait
	AsksAs               // the same, as a subagent's
	Over                 // a hook or the log reports its end
	Step                 // its step is over
	Stop                 // its turn is over
	Message              // the next message begins
)

// Agent is an agent whose dialog draws one command the same, whatever else a call of it says.
type Agent struct {
	Driver agent.Driver
	Dir    string
	// Lines are what the prompt says of a call beside what its dialog draws; "" for a call that it draws whole.
	Lines []string
	// Adds: a prompt may say more than the call does.
	Adds   bool
	Report map[Event]func(id string, line int) []agent.Fact
	// Before are the reports of a call ahead of its dialog, and After those that may be some 0.1 s later than it.
	Before, After []Event
	// Dialog are pictures of the dialog, by size. Cut is one without room.
	Dialog               []*agent.Reading
	Cut, Works, Composer *agent.Reading
}

// call is a call of the agent.
type call struct {
	id      string
	line    int
	begun   time.Time // when its dialog came
	next    bool      // it took the place of another one
	excused bool      // docs/security.md says that this one may be forgotten
}

// world is a session.
type world struct {
	t        *testing.T
	a        *Agent
	r        *rand.Rand
	f        *detect.Fold
	now      time.Time
	seed     int64
	trace    []string
	made     int
	turn     bool
	queue    []*call // calls that are to ask
	open     *call   // the one whose dialog is open
	size     int
	covered  *agent.Reading
	keyAt    time.Time // when a key was last pressed
	hooks    []string  // that wait
	answered string    // the last prompt that Berth's keys have answered
	keyed    int
}

func (w *world) say(format string, a ...any) {
	w.trace = append(w.trace, w.now.Format("04:05.0 ")+fmt.Sprintf(format, a...))
}

func (w *world) apply(f agent.Fact) {
	f.Time = w.now
	w.f.Apply(f)
}

// report makes an event. hook is the one that waits, if any.
func (w *world) report(e Event, id string, line int, hook string) {
	facts := w.a.Report[e]
	if facts == nil {
		return
	}
	for _, f := range facts(id, line) {
		if f.Kind == agent.Asked {
			f.Hook = hook
		}
		w.apply(f)
	}
}

// pass shows the screen for some frames.
func (w *world) pass(frames int) {
	for range frames {
		w.now = w.now.Add(100 * time.Millisecond)
		w.apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: w.screen()})
		w.check()
	}
}

func (w *world) screen() *agent.Reading {
	switch {
	case w.covered != nil:
		return w.covered
	case w.open != nil:
		return w.a.Dialog[w.size]
	case w.turn:
		return w.a.Works
	}
	return w.a.Composer
}

// answers is a prompt that a key answers now; nil without one.
func (w *world) answers() *agent.Request {
	d := w.screen().Dialog
	for _, p := range w.f.Status().Requests {
		s, ok := w.f.Pending(p.ID)
		if p.ID == w.answered && w.now.Sub(w.keyAt) < 4*time.Second { // respond answers no prompt twice
			continue
		}
		if hides, has := w.a.Driver.(agent.HookHidesDialog); s.Hook != "" && has && hides.HidesDialog(p) {
			continue
		}
		if ok && d != nil && s.Dialog != nil && s.Whole && !s.Disputed && !p.Contested && !s.Over && !s.Alike && w.f.Asks(d, p.ID) {
			return p
		}
	}
	return nil
}

// names says whether a prompt says what the call does beside what is drawn of it.
func (a *Agent) names(p *agent.Request, line int) bool {
	text := agent.Value(p.Text)
	if want := a.Lines[line]; want != "" {
		return strings.Contains(text, want)
	}
	if a.Adds || strings.Contains(text, "that it draws whole") {
		return true
	}
	for _, paragraph := range strings.Split(text, "\n\n") {
		for _, other := range a.Lines {
			if other != "" && strings.HasPrefix(paragraph, other) {
				return false
			}
		}
	}
	return true
}

func (w *world) check() {
	if w.open == nil || w.covered != nil {
		return
	}
	p := w.answers()
	if p == nil || w.now.Sub(w.open.begun) < time.Second { // no key is pressed before the log can be there
		return
	}
	if w.keyed++; !w.open.excused && !w.a.names(p, w.open.line) && !w.t.Failed() {
		w.t.Errorf("seed %d: a key allows the call with %q, and the prompt says %q, after\n%s", w.seed, w.a.Lines[w.open.line], agent.Value(p.Text), strings.Join(w.trace, "\n"))
	}
}

// agent does the next thing that the agent does by itself.
func (w *world) agent() {
	switch {
	case w.open != nil:
	case len(w.queue) > 0:
		w.asks()
	case !w.turn:
		w.made++
		w.turn = true
		w.say("message")
		w.report(Message, "", 0, "")
	case w.r.Intn(3) == 0:
		w.turn = false
		w.say("stop")
		w.report(Stop, "", 0, "")
		w.pass(1)
	default:
		for range 1 + w.r.Intn(3) {
			w.made++
			c := &call{id: fmt.Sprintf("c%d", w.made), line: w.r.Intn(len(w.a.Lines))}
			w.say("call %s %q", c.id, w.a.Lines[c.line])
			for _, e := range w.a.Before {
				w.report(e, c.id, c.line, "")
			}
			w.queue = append(w.queue, c)
		}
		w.pass(1)
		w.asks()
	}
}

// asks opens the next call's dialog. Its hook has ended: a person is attached, or another process ended it before it came.
func (w *world) asks() {
	c := w.queue[0]
	w.queue, w.open = w.queue[1:], c
	c.begun, c.next = w.now, w.now.Sub(w.keyAt) < 2500*time.Millisecond
	own := w.r.Intn(2) == 0
	w.covered = nil
	w.say("dialog of %s, own hook %v", c.id, own)
	if own && w.a.Report[Asks] != nil {
		w.report(Asks, c.id, c.line, "own"+c.id)
		w.apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: "hook:gone", Hook: "own" + c.id})
	}
	w.pass(1)
	if w.r.Intn(2) == 0 {
		w.forge()
	}
	if len(w.a.After) > 0 && !c.next && w.r.Intn(3) == 0 {
		w.hides()
	}
	for _, e := range w.a.After {
		w.report(e, c.id, c.line, "")
	}
	w.pass(w.r.Intn(4))
}

// closes is the answer to the open dialog. The next one may come at once.
func (w *world) closes(allowed bool) {
	c := w.open
	w.open, w.covered, w.keyAt = nil, nil, w.now
	if !allowed {
		w.queue = nil
	}
	if len(w.queue) == 0 || w.r.Intn(2) == 0 {
		w.pass(1 + w.r.Intn(4))
		w.say("end of %s", c.id)
		w.report(Over, c.id, c.line, "")
	}
	if len(w.queue) > 0 {
		w.asks()
	}
}

// person answers, or types.
func (w *world) person() {
	shown := w.open != nil && w.covered == nil
	switch n := w.r.Intn(6); {
	case n < 3 && shown:
		if p := w.answers(); p != nil && w.now.Sub(w.open.begun) >= time.Second {
			allows := w.r.Intn(3) > 0
			w.say("Berth's key answers %q, %v", agent.Value(p.Text), allows)
			w.answered = p.ID
			w.f.Answered(p.ID, allows)
			w.closes(allows)
		}
	case n == 3 && shown:
		answers, allows := w.r.Intn(3) > 0, w.r.Intn(3) > 0
		w.say("a key at the terminal, answers %v, allows %v", answers, allows)
		w.f.Typed(w.now)
		if w.keyAt = w.now; answers {
			w.closes(allows)
		} else {
			w.open.excused = true
		}
	case n == 4 && len(w.hooks) > 0:
		w.verdict()
	case n == 5 && w.screen() == w.a.Composer:
		w.say("a message is typed")
		w.f.TypedMessage(w.now)
	}
}

// verdict answers a hook of another process.
func (w *world) verdict() {
	hook := w.hooks[0]
	w.hooks = w.hooks[1:]
	if p, held := w.f.HeldBy(hook); held {
		allows := w.r.Intn(2) == 0
		w.say("hook %s takes %v for %q", hook, allows, agent.Value(p.Text))
		for _, c := range append(w.queue, w.open) { // a person has allowed this call
			if c != nil && allows && w.a.names(p, c.line) {
				c.excused = true
			}
		}
		w.f.Answered(p.ID, allows)
		w.apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: agent.CauseDelivered, Hook: hook})
	}
}

// forge is a report of another process.
func (w *world) forge() {
	id, line := fmt.Sprintf("c%d", w.made-w.r.Intn(4)+1), w.r.Intn(len(w.a.Lines))
	e := []Event{Logged, Logged, Began, Asks, Asks, Asks, AsksAs, Over, Over, Over, Step, Stop, Message}[w.r.Intn(13)]
	if w.open != nil && e == Over && w.r.Intn(2) == 0 {
		id, line = w.open.id, w.open.line
	}
	hook := ""
	if (e == Asks || e == AsksAs) && w.r.Intn(3) == 0 {
		hook = fmt.Sprint(len(w.trace))
		w.hooks = append(w.hooks, hook)
	}
	w.say("forged %v of %s %q, hook %q", e, id, w.a.Lines[line], hook)
	w.report(e, id, line, hook)
}

// hides draws something else over the dialog, or no longer.
func (w *world) hides() {
	if w.covered != nil {
		w.say("uncovered")
		w.covered = nil
		w.pass(1 + w.r.Intn(12))
		return
	}
	if w.open != nil && w.open.next && w.now.Sub(w.open.begun) < 2600*time.Millisecond {
		return
	}
	w.covered = []*agent.Reading{w.a.Works, w.a.Composer, w.a.Composer, w.a.Cut}[w.r.Intn(4)]
	if w.covered == nil {
		w.covered = w.a.Composer
	}
	w.say("covered by rest %v", w.covered == w.a.Composer)
	w.pass(1 + w.r.Intn(4))
}

// attacks has Berth take the open dialog's call for one that is over, and reports another one.
func (w *world) attacks() {
	for _, does := range []func(){
		func() { w.report(Over, w.open.id, w.open.line, "") },
		func() { w.covered = w.a.Composer; w.pass(1 + w.r.Intn(12)) },
		w.forge,
		func() { w.report(Over, w.open.id, w.open.line, "") },
		func() { w.report(Stop, "", 0, "") },
		func() { w.covered = w.a.Composer; w.pass(60) },
		w.restart,
		func() { w.report(Message, "", 0, "") },
		w.forge,
		func() { w.covered = nil; w.pass(1 + w.r.Intn(35)) },
		w.forge,
		func() { w.covered = nil; w.pass(1 + w.r.Intn(35)) },
	} {
		if w.r.Intn(4) > 0 {
			does()
		}
	}
}

func (w *world) step() {
	if w.open != nil && !(w.open.next && w.now.Sub(w.open.begun) < 2600*time.Millisecond) && w.r.Intn(8) == 0 {
		w.say("attack")
		w.attacks()
	}
	switch n := w.r.Intn(20); {
	case n < 5:
		w.agent()
	case n < 9:
		w.person()
	case n < 13:
		w.forge()
	case n < 15:
		w.hides()
	case n == 15 && len(w.hooks) > 0:
		w.say("hook %s ends", w.hooks[0])
		w.apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: "hook:gone", Hook: w.hooks[0]})
		w.hooks = w.hooks[1:]
	case n == 16:
		w.size = w.r.Intn(len(w.a.Dialog))
	case n == 17:
		w.say("time passes")
		w.pass(20 + w.r.Intn(45))
	case n == 18:
		w.restart()
	default:
		w.pass(1 + w.r.Intn(8))
	}
}

// restart is the next server, which has the checkpoint of the one before.
func (w *world) restart() {
	saved, err := w.f.Checkpoint()
	if err != nil {
		w.t.Fatal(err)
	}
	if w.f, err = detect.Restore(w.a.Driver, detect.Options{Dir: w.a.Dir}, saved, w.now); err != nil {
		w.t.Fatal(err)
	}
	w.say("restart")
}

// Play plays some orders of that many steps. A key must allow no call whose prompt doesn't say what its dialog leaves out.
func Play(t *testing.T, a *Agent, orders, steps int) {
	t.Helper()
	keyed := 0
	for seed := range int64(orders) {
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		w := &world{t: t, a: a, r: rand.New(rand.NewSource(seed)), f: detect.New(a.Driver, detect.Options{Start: now, Dir: a.Dir}), now: now, seed: seed}
		for range steps {
			w.step()
		}
		if keyed += w.keyed; t.Failed() {
			return
		}
	}
	if t.Logf("a key would have answered %d pictures", keyed); keyed == 0 {
		t.Error("no key answers any prompt")
	}
}
