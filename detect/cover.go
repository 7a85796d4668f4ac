package detect

import (
	"slices"
	"strings"
	"time"

	"berth/agent"
)

// Any process of the session can draw over a dialog that is open, and a key goes to the open one. Hooks and the session log can be forged
// as well. What can't be forged is which dialog was on the screen, and which keys and answers came after it. So a dialog that has left the
// screen without either may be below the one that is drawn now, until the composer has taken a word.

// covers reports whether the dialog may be drawn over one that a call asks by. That one may not have been seen, if its hook waited and it
// was reported as over before.
func (f *Fold) covers(r *request, d *agent.Dialog) bool {
	if ofWork(d) {
		lost := func(o *request) bool { return o.Told && o.Waits && !o.Foreign }
		return f.coversCall(r) || slices.ContainsFunc(f.m.Lost, lost)
	}
	return r.seenOnly() && f.coversAside(r, d)
}

// coversAside is covers for a dialog that is about no call. Before the agent was ready there was no call. A page of the setup, trust and
// what is asked about the turn before come while no call is pending, but for the page that says that auto mode can't check a call.
func (f *Fold) coversAside(r *request, d *agent.Dialog) bool {
	missed := f.m.Ready && !f.m.Before.IsZero() && !r.Opened.Before(f.m.Before)
	between := (d.Type == agent.PromptSetup || asksAside(d)) && d.Subtype != agent.SubtypeAutoMode
	waits := func(o *request) bool { return o.Told && !o.Prompt.OnScreen && o.Prompt.Type != d.Type }
	return f.m.Look.below(f.now) || len(f.m.Under) > 0 || missed || between && len(f.m.Calls) > 0 ||
		(between || len(d.Options) > 0) && slices.ContainsFunc(f.m.Requests, waits)
}

// below reports whether the dialog may still be open: neither an answer nor the composer shows that it was closed. A hook's refusal shows
// that after an hour, because the hook may have been forged.
func (l *look) below(now time.Time) bool {
	return l.left() && !l.Heard.After(l.Gone) && (l.Heard.IsZero() || l.unanswered(now))
}

// hears records that the hook of the dialog's prompt took an answer, which isn't later than the dialog's end.
func (l *look) hears(now time.Time) {
	if l.Heard = now; !l.Gone.IsZero() {
		l.Heard = l.Gone
	}
}

// shows is what the prompt of a dialog of a call says, in digests.
type shows struct {
	ID    string   // the prompt's, which is another one when the text changes
	About string   // the tool, the whole input, and which subagent asks
	Said  []string // the paragraphs of the text
	Size  [2]int   // of the screen
	Cut   bool
}

// under is a dialog of a call that another one was drawn in place of.
type under struct {
	look
	shows
}

// undersKept bounds those. One more is then any dialog's, so that drawing many of them makes Berth forget none.
const (
	undersKept = 4
	anyDialog  = "any" // in the place of a look
)

// coversCall reports whether an answer to the prompt would allow what it doesn't show, if it went to a dialog below. A program that rules
// read isn't tried with a word, and its questions may go by themselves.
func (f *Fold) coversCall(r *request) bool {
	if _, ruled := f.driver.(agent.RulesNamer); ruled {
		return false
	}
	if f.m.Aside.below(f.now) || len(f.m.Under) == 0 {
		return f.m.Aside.below(f.now)
	}
	now := showsOf(r)
	return slices.ContainsFunc(f.m.Under, func(u under) bool {
		return u.below(f.now) && u.Key != f.m.Look.Key && (u.About != now.About || slices.ContainsFunc(u.Said, func(said string) bool { return !slices.Contains(now.Said, said) }))
	})
}

// showsOf is what the prompt says.
func showsOf(r *request) shows {
	p := r.Prompt
	s := shows{ID: p.ID, About: hashed(strings.Join([]string{string(p.Type), agent.Value(p.Tool), agent.Value(p.Agent), p.FullInput}, "\x00"))}
	for _, said := range strings.Split(alone(p), "\n\n") {
		if said != onlyHook && said != "" {
			s.Said = append(s.Said, lookOf(said))
		}
	}
	return s
}

// isShown keeps what the prompt of the dialog on the screen says.
func (f *Fold) isShown(r *request, d *agent.Dialog) {
	if !ofWork(d) || f.m.Look.Key != lookOf(f.m.Screen.Key) {
		return
	}
	if f.m.Shows.ID != r.Prompt.ID {
		f.m.Shows = showsOf(r)
	}
	f.m.Shows.Cut, f.m.Shows.Size = d.Cut, size(d)
}

// placesUnder keeps the last dialog of a call, if another one takes its place and no answer to it is known. Only a dialog that was a prompt
// counts: half-drawn ones look like others. One that is cut off is drawn whole when the screen is larger.
func (f *Fold) placesUnder(was look, d *agent.Dialog) {
	m := &f.m
	if m.Look.Key == was.Key {
		return
	}
	one := under{was, m.Shows}
	m.Shows = shows{}
	m.Under = slices.DeleteFunc(m.Under, func(u under) bool { return !u.below(f.now) })
	if one.About == "" || one.Cut && d != nil && one.Size != size(d) {
		return
	}
	if one.Gone.IsZero() {
		one.Gone = f.now
	}
	m.Under = slices.DeleteFunc(m.Under, func(u under) bool { return u.Key == one.Key })
	switch last := len(m.Under) - 1; {
	case !one.below(f.now):
	case len(m.Under) < undersKept:
		m.Under = append(m.Under, one)
	default:
		m.Under[last].Key, m.Under[last].About, m.Under[last].Gone = anyDialog, "", f.now
	}
}

// answersUnder forgets the dialogs below that a key or a word, typed at that time, shows to be over.
func (f *Fold) answersUnder(typed time.Time) {
	f.m.Under = slices.DeleteFunc(f.m.Under, func(u under) bool { return u.Since.Before(typed) })
}
