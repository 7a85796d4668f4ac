// Package anyorder plays random orders of what an agent, the people at its prompts and another process of its session do, and
// checks each key that would answer a dialog.
package anyorder

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
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
	Logged    Event = iota // the session log has the call
	Began                  // a hook reports its start
	Asks                   // a hook asks for its permission, and may wait
	AsksAs                 // the same, as a subagent's
	AsksElse               // another tool asks, by the call's id and with what the dialog draws
	BeganElse              // a hook or the log reports something else by the call's id
	Over                   // a hook or the log reports its end
	Step                   // its step is over
	Stop                   // its turn is over
	Message                // the next message begins
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
	// Others are calls with other dialogs. They are numbered after Lines.
	Others []Other
	// Subagent are pictures of the dialog of a subagent's call; nil if they are the same. Its driver may not read it. SubagentsLog: the log has such calls.
	Subagent     []*agent.Reading
	SubagentsLog bool
	// SubagentBegan, if set, reports the start of a subagent's call, which is read otherwise than the main agent's.
	SubagentBegan func(id string, line int) []agent.Fact
}

// Other is a call whose dialog is another one.
type Other struct {
	Says   func(p *agent.Request) bool // whether a prompt is about that call
	Dialog []*agent.Reading
}

// Asking is a call of that tool and input.
func Asking(tool, input string, dialog ...*agent.Reading) Other {
	return Other{func(p *agent.Request) bool { return agent.Value(p.Tool) == tool && p.FullInput == input }, dialog}
}

// calls is how many different calls there are.
func (a *Agent) calls() int { return len(a.Lines) + len(a.Others) }

// other is what the call is if its dialog is another one.
func (a *Agent) other(line int) *Other {
	if line < len(a.Lines) {
		return nil
	}
	return &a.Others[line-len(a.Lines)]
}

// dialog is the picture of the call's dialog at a size.
func (a *Agent) dialog(c *call, size int) *agent.Reading {
	all := a.Dialog
	if o := a.other(c.line); o != nil {
		all = o.Dialog
	} else if c.subagent && a.Subagent != nil {
		all = a.Subagent
	}
	return all[min(size, len(all)-1)]
}

// about is a call in a word.
func (a *Agent) about(line int) string {
	if line < len(a.Lines) {
		return strconv.Quote(a.Lines[line])
	}
	return fmt.Sprintf("other %d", line-len(a.Lines))
}

// call is a call of the agent.
type call struct {
	id       string
	line     int
	subagent bool
	begun    time.Time // when its dialog came
	hook     string    // its own one, while it waits
	over     bool      // its end was reported
	next     bool      // it took the place of another one
	excused  bool      // a person has allowed it already, or docs/security.md says that this one may be forgotten
}

// world is a session.
type world struct {
	t        *testing.T
	a        *Agent
	r        *rand.Rand
	f        *detect.Fold
	now      time.Time
	trace    []string
	failed   string // why a key is wrong; empty as long as none is
	made     int
	turn     bool
	queue    []*call // calls that are to ask
	open     *call   // the one whose dialog is open
	size     int
	focus    int // the option that a person has gone to
	looks    detect.Looks
	honest   honest
	calm     int                         // how seldom another process does something
	shown    map[string][]*agent.Request // what each id has shown
	server   server
	told     [][]agent.Fact // what was reported last
	covered  *agent.Reading
	keyAt    time.Time // when a key was last pressed
	hooks    []string  // that wait
	answered string    // the last prompt that Berth's keys have answered
	keyed    int
	turns    int
	hooked   bool        // a hook has come
	allowed  map[int]int // what people have allowed ahead of its call, by a hook of another process
}

func newWorld(t *testing.T, a *Agent) *world {
	w := &world{t: t, a: a, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), allowed: map[int]int{}, shown: map[string][]*agent.Request{}, calm: 1}
	w.f = detect.New(a.Driver, w.options())
	return w
}

func (w *world) say(format string, a ...any) {
	w.trace = append(w.trace, w.now.Format("15:04:05.0 ")+fmt.Sprintf(format, a...))
}

func (w *world) apply(f agent.Fact) {
	f.Time, w.hooked = w.now, w.hooked || f.Source == agent.SourceHook
	if f.Kind == agent.TurnStarted {
		w.turns++
	}
	if f.Turn != "" { // each turn has another id
		f.Turn = fmt.Sprintf("%s.%d", f.Turn, w.turns)
	}
	w.record(func(fold *detect.Fold) { fold.Apply(f) })
}

// report makes an event. hook is the one that waits, if any.
func (w *world) report(e Event, id string, line int, hook string) {
	facts := w.a.Report[e]
	if facts == nil {
		return
	}
	all := facts(id, line)
	for i, f := range all {
		if f.Kind == agent.Asked && f.Source == agent.SourceHook {
			all[i].Hook = hook
		}
		w.apply(all[i])
	}
	w.told = append(w.told[max(0, len(w.told)-20):], all)
}

// reports makes an event about a call of the agent's.
func (w *world) reports(e Event, c *call, hook string) {
	c.over = c.over || e == Over
	if !c.subagent || e == Message || e == Stop {
		w.report(e, c.id, c.line, hook)
		return
	}
	if e == Asks && w.a.Report[AsksAs] != nil {
		e = AsksAs
	}
	facts := w.a.Report[e]
	if e == Began && w.a.SubagentBegan != nil {
		facts = w.a.SubagentBegan
	}
	if facts == nil {
		return
	}
	for _, f := range facts(c.id, c.line) {
		if f.Source == agent.SourceLog && !w.a.SubagentsLog {
			continue
		}
		if f.Agent, f.AgentType = "x", "y"; f.Kind == agent.Asked && f.Source == agent.SourceHook {
			f.Hook = hook
		}
		w.apply(f)
	}
}

// pass shows the screen for some frames.
func (w *world) pass(frames int) {
	for range frames {
		w.now = w.now.Add(100 * time.Millisecond)
		w.look()
	}
}

// look reads the screen.
func (w *world) look() {
	if w.server.down {
		return
	}
	if news, ok := w.looks.Fact(w.screen(), w.now); ok && (news.Kind == agent.ScreenShows || w.screen() == w.a.Works) {
		news.Time = w.now
		w.f.Apply(news)
	} else {
		w.f.Tick(w.now)
	}
	w.keep()
	w.check()
	w.answerable()
}

// keep keeps what each id shows. A person may answer any of it later.
func (w *world) keep() {
	for _, p := range w.f.Status().Requests {
		if all := w.shown[p.ID]; len(all) == 0 || all[len(all)-1].Digest != p.Digest {
			w.shown[p.ID] = append(all, p)
		}
	}
}

func (w *world) screen() *agent.Reading {
	switch {
	case w.covered != nil:
		return w.covered
	case w.open != nil:
		return w.focused(w.a.dialog(w.open, w.size))
	case w.turn:
		return w.a.Works
	}
	return w.a.Composer
}

// focused is the picture with another option chosen.
func (w *world) focused(r *agent.Reading) *agent.Reading {
	if w.focus == 0 || r.Dialog == nil {
		return r
	}
	moved, d := *r, *r.Dialog
	moved.Dialog, d.Options = &d, slices.Clone(d.Options)
	for i := range d.Options {
		d.Options[i].Focused = i == w.focus%len(d.Options)
	}
	return &moved
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
		if ok && d != nil && s.Dialog != nil && s.Whole && !s.Disputed && !p.Contested && !s.Over && !s.Alike && w.f.Asks(d, p.ID) && w.ready(p, s) {
			return p
		}
	}
	return nil
}

// ready reports whether the dialog has been there for long enough, and a hook for it would have come.
func (w *world) ready(p *agent.Request, s detect.Pending) bool {
	k, err := w.a.Driver.(agent.PromptAnswerer).Keys(p, agent.Answer{Kind: agent.Accept}, s.Dialog)
	if err != nil || !s.Told && w.hooked && w.now.Sub(p.Since.Time) < time.Second {
		return false
	}
	step := k.Steps[0]
	within := step.ShownFor
	switch {
	case step.LevelSuffices && s.Waits:
		within = 0
	case step.LevelSuffices && s.Busy:
		within = max(within, 2*time.Second)
	}
	return w.now.Sub(s.Shown) >= within
}

// names says whether a prompt says what the call does beside what is drawn of it.
func (a *Agent) names(p *agent.Request, line int) bool {
	if o := a.other(line); o != nil {
		return o.Says(p)
	}
	if slices.ContainsFunc(a.Others, func(o Other) bool { return o.Says(p) }) {
		return false
	}
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

// check: a key answers the prompt with that id, and whatever the id has shown names the call that the dialog is about.
func (w *world) check() {
	if w.open == nil || w.covered != nil {
		return
	}
	p := w.answers()
	if p == nil {
		return
	}
	if w.keyed++; w.open.excused || w.failed != "" {
		return
	}
	for _, was := range w.shown[p.ID] {
		if !w.a.names(was, w.open.line) {
			w.failed = fmt.Sprintf("a key allows the call %s, and its prompt %s says %q %q", w.a.about(w.open.line), p.ID, agent.Value(was.Input), agent.Value(was.Text))
		}
	}
}
