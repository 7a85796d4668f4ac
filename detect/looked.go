package detect

import (
	"slices"
	"time"

	"berth/agent"
)

// Several calls may be drawn alike: equal ones, and those that differ in what no dialog draws. Nothing that a process of the
// session can't forge says which of them a dialog was about, or that a dialog which has left the screen was answered. So Berth
// counts. Of the calls that may have been drawn as one look, each may still ask until that look has taken as many answers
// as there are such calls. An answer is a key that reached a dialog of that look, or a hook that took Berth's allowance.

// looksOf counts the calls whose dialogs may have had each look. Past calls and those that were reported as over are often the
// same ones, so the larger number counts.
func (f *Fold) looksOf() map[string]int {
	m := &f.m
	over, past := map[string]int{}, map[string]int{}
	for i := range m.Calls {
		over[m.Calls[i].Look]++
		past[m.Calls[i].Look]++
	}
	for i := range m.Unasked {
		over[m.Unasked[i].Look]++
	}
	for i := range m.Past {
		past[m.Past[i].Look]++
	}
	for look, n := range past {
		over[look] = max(over[look], n)
	}
	return over
}

// recount follows the calls as they come and are forgotten. Each that is forgotten takes an answer with it.
func (f *Fold) recount() {
	if len(f.m.Looks) == 0 {
		return
	}
	count := f.looksOf()
	for look, t := range f.m.Looks {
		n := count[look]
		t.Given = max(0, min(n, t.Given-max(0, t.Of-n)))
		if t.Of = n; n == 0 {
			delete(f.m.Looks, look)
		}
	}
}

// isAnswered reports whether no dialog of that look can be open. The empty look is that of a call without a dialog.
func (f *Fold) isAnswered(look string) bool {
	t := f.m.Looks[look]
	return look == "" || t != nil && t.Given >= t.Of
}

// tally returns the count of a look; nil if no call has it.
func (f *Fold) tally(look string) *tally {
	m := &f.m
	if t := m.Looks[look]; t != nil || look == "" {
		return t
	}
	n := f.looksOf()[look]
	if n == 0 {
		return nil
	}
	if m.Looks == nil {
		m.Looks = map[string]*tally{}
	}
	m.Looks[look] = &tally{Of: n}
	return m.Looks[look]
}

// lastLooks are the last dialogs of each kind. They are kept apart, so that a drawn dialog of another kind, which a person
// answers, isn't taken for the one below it.
func (f *Fold) lastLooks() []*look { return []*look{&f.m.Look, &f.m.Aside, &f.m.Other} }

// Looked is when a dialog last came to the screen, or left it.
func (f *Fold) Looked() (at time.Time) {
	for _, l := range append(f.lastLooks(), &f.m.Face.look) {
		at = latest(at, l.Since, l.Gone)
	}
	for i := range f.m.Under {
		at = latest(at, f.m.Under[i].Gone)
	}
	return at
}

// Pressed records that a key of an answer to the prompt was pressed, and that more follow: another page may take its place.
func (f *Fold) Pressed(id string) {
	for _, r := range f.m.Requests {
		if r.Prompt.ID == id {
			f.pressedAt(f.now)
		}
	}
}

// pressedAt records that a key reached whatever dialog was open.
func (f *Fold) pressedAt(at time.Time) {
	f.answersUnder(at)
	for _, l := range append(f.lastLooks(), &f.m.Face.look) {
		if l.at(at, f.now) {
			l.Taken = f.now
		}
	}
}

// takes records that an answer may have reached the last dialog.
func (f *Fold) takes(key string) {
	for _, l := range f.lastLooks() {
		if l.Key == key {
			l.Taken = f.now
		}
	}
}

// takesFace is takes for what may be below.
func (f *Fold) takesFace(key string) {
	f.m.Under = slices.DeleteFunc(f.m.Under, func(u face) bool { return u.Key == key })
	if l := &f.m.Face.look; l.Key == key {
		l.Taken = f.now
	}
}

// gives counts an answer at a dialog of that look. by identifies the dialog: several keys at one are one answer.
func (f *Fold) gives(look, by string) {
	f.takes(look)
	t := f.tally(look)
	if t == nil {
		return
	}
	if t.At = f.now; t.By != by {
		t.By, t.Given = by, min(t.Given+1, t.Of)
	}
}

// typedAt counts a person's key at the dialog on the screen, or at the one that has just left it.
func (f *Fold) typedAt(at time.Time) {
	f.answersUnder(at)
	for _, l := range f.lastLooks() {
		if l.at(at, f.now) {
			f.gives(l.Key, "terminal\x00"+l.Since.String())
		}
	}
	if l := &f.m.Face.look; l.Key != "" && l.at(at, f.now) {
		l.Taken = f.now
	}
}

// Answered records that the last key of an answer to the prompt was pressed, or that its hook has taken one, and whether the
// answer allows the prompt's call. A hook can be forged, and its dialog may be another call's. So a refusal that a hook has taken
// answers no dialog, nor does an answer to a question or a plan, and an allowance that of a call which the hook reported.
func (f *Fold) Answered(id string, allows bool) {
	for _, r := range f.m.Lost {
		r.Allowed = r.Allowed || allows && r.Prompt.ID == id
	}
	for _, r := range f.m.Requests {
		if r.Prompt.ID != id {
			continue
		}
		if r.Allowed = r.Allowed || allows; r.Hook == "" {
			f.pressedAt(f.now)
		}
		if l := &f.m.Look; l.Key == lookOf(r.Key) {
			l.hears(f.now)
		}
		f.m.Face.hearsOf(r, f.now)
		for i := range f.m.Under {
			f.m.Under[i].hearsOf(r, f.now)
		}
		t := f.tally(lookOf(r.Key))
		switch {
		case r.Hook == "":
			f.gives(lookOf(r.Key), id)
			f.takesFace(lookOf(r.Key))
			if allows && r.Prompt.OnScreen {
				f.allowsOpen()
			}
		case allows && r.Prompt.Type == agent.PromptPermission && f.drewOne(r) && !f.drewCut(r):
			if f.gives(lookOf(r.Key), id); f.isAnswered(lookOf(r.Key)) { // otherwise it may be another call's that is drawn alike
				f.takesFace(lookOf(r.Key))
			}
		case r.Prompt.Type != agent.PromptPermission: // it allows no call
			if l := &f.m.Look; l.Key == lookOf(r.Key) {
				l.Taken = f.now
			}
		case t != nil:
			t.At = f.now
		}
	}
}

// drewCut reports whether the prompt's dialog was cut off. Another call's may be drawn so.
func (f *Fold) drewCut(r *request) bool {
	cut := func(n face) bool { return n.Key == lookOf(r.Key) && n.Cut }
	return cut(f.m.Face) || slices.ContainsFunc(f.m.Under, cut)
}

// drewOne reports whether the prompt's dialog may be about a call that the prompt is about.
func (f *Fold) drewOne(r *request) bool {
	is := func(c call) bool {
		return c.Look == lookOf(r.Key) && f.isOf(r, &c) && (c.Logged == "" || c.Logged == r.Input) // another process may have reported its id with another input
	}
	return slices.ContainsFunc(f.m.Calls, is) || slices.ContainsFunc(f.m.Unasked, is)
}

// mayForget reports whether the call of that look may be forgotten at rest. Not all of the calls that are drawn alike have to
// ask, so an hour after the last answer is enough.
func (f *Fold) mayForget(look string) bool {
	t := f.m.Looks[look]
	return f.isAnswered(look) || t != nil && !t.At.IsZero() && f.now.Sub(t.At) >= pastFor
}

// covered reports whether the last dialog of a call has left the screen without an answer. Another process can have drawn over it,
// so its agent doesn't rest, and the calls after it are still to ask.
func (f *Fold) covered() bool { return f.m.Look.unanswered(f.now) }

// Covered reports whether a dialog left the screen, and no answer to it is known, or that one may have come while
// nothing looked. What is on the screen may be drawn over it. A dialog stays open for as long as it is covered, so the time
// makes no difference.
func (f *Fold) Covered() bool {
	below := func(u face) bool { return u.below(f.now) }
	return f.m.Look.below(f.now) || f.m.Aside.left() || f.m.Other.left() || !f.m.Before.IsZero() ||
		slices.ContainsFunc(f.m.Under, below) || slices.ContainsFunc(f.m.Lost, func(r *request) bool { return r.Waits })
}

// Unseen records that the terminal was drawn on until at, and that no server looked. A dialog may have come then, and been covered.
func (f *Fold) Unseen(at time.Time) { f.m.Before = at }

// Proven records that the agent's composer has taken a word that was typed at that time. So no dialog that had left the screen by then,
// or that came while nothing looked, is open any more.
func (f *Fold) Proven(typed time.Time) {
	m := &f.m
	if m.Before.Before(typed) {
		m.Before = time.Time{}
	}
	f.answersUnder(typed)
	for _, l := range f.lastLooks() {
		switch {
		case !l.left() || !l.Gone.Before(typed):
		case l == &m.Look:
			l.Heard = typed // its call may be reported late all the same
		default:
			l.Taken = typed
		}
	}
}

// oneLook is the look of two equal calls that are kept as one. An unanswered one counts.
func (f *Fold) oneLook(newer, older string) string {
	if newer == "" || !f.isAnswered(older) {
		return older
	}
	return newer
}
