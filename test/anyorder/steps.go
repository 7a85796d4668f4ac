package anyorder

import (
	"fmt"
	"slices"
	"time"

	"berth/agent"
	"berth/detect"
)

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
	case w.r.IntN(3) == 0:
		w.turn = false
		w.say("stop")
		w.report(Stop, "", 0, "")
		w.pass(1)
	default:
		for range 1 + w.r.IntN(3) {
			w.made++
			c := &call{id: fmt.Sprintf("c%d", w.made), line: w.r.IntN(w.a.calls()), subagent: w.r.IntN(6) == 0}
			c.subagent = c.subagent && (w.a.Subagent == nil || w.a.other(c.line) == nil)
			w.say("call %s %s, a subagent's %v", c.id, w.a.about(c.line), c.subagent)
			if w.allowed[c.line] > 0 {
				c.excused = true
				w.allowed[c.line]--
			}
			for _, e := range w.a.Before {
				w.reports(e, c, "")
			}
			w.queue, w.honest.made = append(w.queue, c), append(w.honest.made, c)
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
	own := w.honest.plays || w.r.IntN(2*w.calm) > 0
	w.covered = nil
	w.say("dialog of %s, own hook %v", c.id, own)
	if own && w.a.Report[Asks] != nil {
		w.reports(Asks, c, "own"+c.id)
		if c.hook = "own" + c.id; !w.honest.plays || w.r.IntN(2) == 0 || w.hidden(c) {
			w.gone(c)
		}
	}
	w.pass(1)
	if !w.honest.plays && w.r.IntN(2*w.calm) == 0 {
		w.forge()
	}
	if len(w.a.After) > 0 && !w.honest.plays && !c.next && w.r.IntN(3*w.calm) == 0 {
		w.hides()
	}
	for _, e := range w.a.After {
		w.reports(e, c, "")
	}
	w.pass(w.r.IntN(4))
}

// hidden reports whether the call's hook keeps its dialog off the screen.
func (w *world) hidden(c *call) bool {
	p, held := w.f.HeldBy(c.hook)
	hides, has := w.a.Driver.(agent.HookHidesDialog)
	return !held || has && hides.HidesDialog(p)
}

// gone is the end of the call's own hook.
func (w *world) gone(c *call) {
	if c.hook != "" {
		w.apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: "hook:gone", Hook: c.hook})
		c.hook = ""
	}
}

// closes is the answer to the open dialog. The next one may come at once.
func (w *world) closes(allowed bool) {
	c := w.open
	w.open, w.covered, w.keyAt, w.focus = nil, nil, w.now, 0
	w.gone(c)
	if !allowed {
		for _, o := range w.queue {
			if w.honest.plays {
				w.reports(Over, o, "")
			}
		}
		w.queue = nil
	}
	if len(w.queue) == 0 || w.honest.plays || w.r.IntN(2) == 0 {
		w.pass(1 + w.r.IntN(4))
		w.say("end of %s", c.id)
		w.reports(Over, c, "")
	}
	if len(w.queue) > 0 {
		w.asks()
	}
}

// keys is Berth's answer to the open dialog, by keys.
func (w *world) keys() {
	if w.open == nil || w.covered != nil || w.server.down {
		return
	}
	if p := w.answers(); p != nil {
		allows := w.r.IntN(3) > 0
		w.say("Berth's key answers %q, %v", agent.Value(p.Text), allows)
		w.answered = p.ID
		w.record(func(f *detect.Fold) { f.Answered(p.ID, allows) })
		w.closes(allows)
	}
}

// types is a person's key at the open dialog.
func (w *world) types() {
	if w.open == nil || w.covered != nil || w.server.down {
		return
	}
	answers, allows := w.r.IntN(3) > 0, w.r.IntN(3) > 0
	w.say("a key at the terminal, answers %v, allows %v", answers, allows)
	w.typed()
	if w.keyAt = w.now; answers {
		w.closes(allows)
	} else {
		for _, c := range append(w.queue, w.open) { // the key counts for each call that is drawn so
			c.excused = true
		}
	}
}

// selects is a person who goes to another option, and may press Enter there.
func (w *world) selects() {
	if w.open == nil || w.covered != nil || w.server.down {
		return
	}
	for range 1 + w.r.IntN(3) {
		w.typed()
		w.keyAt, w.focus = w.now, w.focus+1
		w.say("the next option")
		w.pass(w.r.IntN(4))
	}
	if w.r.IntN(2) == 0 {
		w.say("Enter")
		w.typed()
		w.closes(w.r.IntN(2) == 0)
	}
}

// always is an answer that allows all calls that are drawn like this one. They run without a dialog.
func (w *world) always() {
	if w.open == nil || w.covered != nil || w.server.down || w.r.IntN(2) == 0 {
		return
	}
	w.say("a key at the terminal, allows always")
	w.typed()
	c := w.open
	kept := w.queue[:0:0]
	var run []*call
	for _, o := range w.queue {
		if w.a.other(o.line) == w.a.other(c.line) {
			run = append(run, o)
		} else {
			kept = append(kept, o)
		}
	}
	w.queue = kept
	w.closes(true)
	for _, o := range run {
		w.say("end of %s", o.id)
		w.reports(Over, o, "")
	}
}

// runs is a call that the agent doesn't ask about.
func (w *world) runs() {
	if w.open != nil || len(w.queue) > 0 || !w.turn {
		return
	}
	w.made++
	c := &call{id: fmt.Sprintf("c%d", w.made), line: w.r.IntN(w.a.calls())}
	w.honest.made = append(w.honest.made, c)
	w.say("%s %s runs without a dialog", c.id, w.a.about(c.line))
	for _, e := range append(slices.Clone(w.a.Before), w.a.After...) {
		if e != Asks {
			w.reports(e, c, "")
		}
	}
	w.pass(w.r.IntN(8))
	w.reports(Over, c, "")
}

// jumps lets up to an hour pass.
func (w *world) jumps() {
	d := 100 * time.Millisecond
	for range w.r.IntN(16) {
		d *= 2
	}
	if w.covered != nil { // docs/security.md says that a dialog may be forgotten that is covered for an hour
		d = min(d, time.Minute)
	}
	if w.screen() == w.a.Works { // an agent at work draws something each second
		d = min(d, 3*time.Second)
	}
	w.say("%s pass", d)
	to := w.now.Add(d)
	for range 1000 {
		due := w.f.Deadline()
		if due.IsZero() || !due.Before(to) {
			break
		}
		w.now = due
		if w.server.down {
			break
		}
		w.look()
	}
	w.now, w.honest.changed = to, to
	w.look()
}

// torn is a picture that is half drawn.
func (w *world) torn() {
	if w.open == nil || w.covered != nil {
		return
	}
	w.say("half drawn")
	w.covered = &agent.Reading{}
	w.look()
	w.covered, w.honest.changed = nil, w.now
	w.pass(1 + w.r.IntN(3))
}

// message is one that Berth types into the composer.
func (w *world) message() {
	if w.screen() == w.a.Composer && !w.server.down {
		w.say("a message is typed")
		w.typedMessage()
	}
}

// verdict answers a hook of another process.
func (w *world) verdict() {
	if len(w.hooks) == 0 || w.server.down {
		return
	}
	hook := w.hooks[0]
	w.hooks = w.hooks[1:]
	if p, held := w.f.HeldBy(hook); held {
		allows := w.r.IntN(2) == 0
		w.say("hook %s takes %v for %q", hook, allows, agent.Value(p.Text))
		if allows {
			w.allows(p)
		}
		w.record(func(f *detect.Fold) { f.Answered(p.ID, allows) })
		gone := agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: agent.CauseDelivered, Hook: hook}
		if hides, ok := w.a.Driver.(agent.HookHidesDialog); ok && hides.HidesDialog(p) {
			gone.Kind = agent.HookAnswered
		}
		w.apply(gone)
	}
}

// allows: a person has allowed what the prompt says, which is one of these calls, or the next one.
func (w *world) allows(p *agent.Request) {
	now := map[int]bool{}
	for _, c := range append(slices.Clone(w.queue), w.open) {
		if c != nil && w.a.names(p, c.line) {
			c.excused, now[c.line] = true, true
		}
	}
	for line := range w.a.calls() {
		if !now[line] && w.a.names(p, line) {
			w.allowed[line]++
		}
	}
}

// forge is a report of another process.
func (w *world) forge() {
	id, line := fmt.Sprintf("c%d", w.made-w.r.IntN(4)+1), w.r.IntN(w.a.calls())
	e := []Event{Logged, Logged, Began, BeganElse, Asks, Asks, Asks, AsksAs, AsksElse, Over, Over, Over, Step, Stop, Message}[w.r.IntN(15)]
	if w.open != nil && e == Over && w.r.IntN(2) == 0 {
		id, line = w.open.id, w.open.line
	}
	hook := ""
	if (e == Asks || e == AsksAs || e == AsksElse) && w.r.IntN(3) == 0 {
		hook = fmt.Sprint(len(w.trace))
		w.hooks = append(w.hooks, hook)
	}
	w.say("forged %v of %s %s, hook %q", e, id, w.a.about(line), hook)
	w.report(e, id, line, hook)
}

// hides draws something else over the dialog, or no longer.
func (w *world) hides() {
	if w.covered != nil {
		w.say("uncovered")
		w.covered = nil
		w.pass(1 + w.r.IntN(12))
		return
	}
	if w.open != nil && !w.mayCover() {
		return
	}
	w.covered = []*agent.Reading{w.a.Works, w.a.Composer, w.a.Composer, w.a.Cut}[w.r.IntN(4)]
	if w.covered == nil {
		w.covered = w.a.Composer
	}
	w.say("covered by rest %v", w.covered == w.a.Composer)
	w.pass(1 + w.r.IntN(4))
}

// ends is the end of a hook of another process.
func (w *world) ends() {
	if len(w.hooks) == 0 {
		return
	}
	w.say("hook %s ends", w.hooks[0])
	w.apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: "hook:gone", Hook: w.hooks[0]})
	w.hooks = w.hooks[1:]
}

// resize draws the dialog at another size.
func (w *world) resize() { w.size, w.honest.changed = w.r.IntN(len(w.a.Dialog)), w.now }

// idles lets some seconds pass.
func (w *world) idles() {
	w.say("time passes")
	w.pass(20 + w.r.IntN(45))
}

// mayCover: docs/security.md says that a dialog may be forgotten that another process covers before it was drawn, or up to 2.5 s
// after a key that didn't answer it.
func (w *world) mayCover() bool {
	return w.open != nil && w.now.Sub(w.keyAt) >= 2600*time.Millisecond && (!w.open.next || w.now.Sub(w.open.begun) >= 2600*time.Millisecond)
}

func (w *world) covers(frames int) {
	w.say("covered for %d pictures", frames)
	w.covered = w.a.Composer
	w.pass(frames)
}

func (w *world) uncovers(frames int) {
	w.say("uncovered")
	w.covered = nil
	w.pass(frames)
}

// attack has Berth take the open dialog's call for one that is over, and reports another one.
var attack = []kind{
	{1, true, "the end of the open call is forged", func(w *world) {
		if w.open != nil {
			w.say("forged end of %s", w.open.id)
			w.report(Over, w.open.id, w.open.line, "")
		}
	}},
	{1, true, "covered", func(w *world) {
		if w.mayCover() {
			w.covers(1 + w.r.IntN(12))
		}
	}},
	{1, true, "forged", (*world).forge},
	{1, true, "the end of the open call is forged again", func(w *world) {
		if w.open != nil {
			w.say("forged end of %s", w.open.id)
			w.report(Over, w.open.id, w.open.line, "")
		}
	}},
	{1, true, "the turn's end is forged", func(w *world) { w.say("forged stop"); w.report(Stop, "", 0, "") }},
	{1, true, "covered for long", func(w *world) {
		if w.mayCover() {
			w.covers(60)
		}
	}},
	{1, true, "restart", (*world).restarts},
	{1, true, "a message is forged", func(w *world) { w.say("forged message"); w.report(Message, "", 0, "") }},
	{1, true, "forged", (*world).forge},
	{1, true, "uncovered", func(w *world) { w.uncovers(1 + w.r.IntN(35)) }},
	{1, true, "forged", (*world).forge},
	{1, true, "uncovered", func(w *world) { w.uncovers(1 + w.r.IntN(35)) }},
}
