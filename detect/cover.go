package detect

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"berth/agent"
)

// Any process of the session can draw over a dialog that is open, and a key goes to the open one. Hooks and the session log can be forged
// as well. What can't be forged is which dialogs were on the screen, and which keys and answers came after each. So a dialog that has left
// the screen without either may be below the one that is drawn now, until the composer has taken a word. Nothing is asked of its type, of
// its tool or of what reported it, because another process can choose those. A key for the drawn dialog is safe only if it is the same one.

// undersKept bounds the dialogs that may be below. One more is then any dialog's, so that drawing many of them makes Berth forget none.
const (
	undersKept = 8
	anyDialog  = "any" // in the place of a look
)

// resizeSettles is how long an agent may take to draw its dialog anew after the screen has another size. Claude Code took up to 1.3 s.
const resizeSettles = 2 * time.Second

// covers reports whether the prompt's dialog may be drawn over another one, which then gets the key.
func (f *Fold) covers(r *request, d *agent.Dialog) bool {
	other := func(u face) bool { return f.isBelow(u, r, d) }
	return slices.ContainsFunc(f.m.Under, other) || ofWork(d) && (f.coversUnseen(r, d) || f.coversOpen(r, d)) || !ofWork(d) && r.seenOnly() && f.coversAside(r, d)
}

// coversUnseen reports whether a call of another tool may have a dialog that never was on the screen. Its prompt's hook waited, and Berth
// hasn't released it for a client, unless the session log has another order: of parallel calls an agent asks about the first. Calls of one
// tool, and dialogs that no hook reports, have their own rules: see disputes. So has a form beside a prompt of its conversation: see Pending.
func (f *Fold) coversUnseen(r *request, d *agent.Dialog) bool {
	form := d.Type == agent.PromptForm
	lost := func(o *request) bool { return o.isUnder() || form && o.Waits && o.Foreign }
	waits := func(o *request) bool {
		if form || !o.Told || o.Tool == r.Tool || o.Seen || o.Prompt.OnScreen {
			return false
		}
		if !r.Told && !r.Vouched { // the agent may draw a dialog that it doesn't report beside a hook that waits
			return o.Hook == "" && o.Prompt.Type == r.Prompt.Type && (o.Waits && !o.Released || o.By == agent.SourceLog)
		}
		if !o.Waits {
			return false
		}
		first, known := f.askedFirst(o)
		return first || !known && !o.Released
	}
	return !f.ruled() && (slices.ContainsFunc(f.m.Lost, lost) || slices.ContainsFunc(f.m.Requests, waits))
}

// askedFirst reports whether the session log has the call of o, or else that of the dialog on the screen, before the other one. known is
// false if the log lacks either.
func (f *Fold) askedFirst(o *request) (is, known bool) {
	index := func(is func(c call) bool) int {
		return slices.IndexFunc(f.m.Calls, func(c call) bool { return c.Logged != "" && is(c) })
	}
	first := index(func(c call) bool { return f.isOf(o, &c) })
	drawn := index(func(c call) bool { return c.Look == f.m.Look.Key })
	known = first >= 0 && drawn >= 0
	return known && first < drawn, known
}

// coversAside is covers for a dialog that is about no call. Before the agent was ready there was no call. A page of the setup, trust and
// what is asked about the turn before come while no call is pending, but for the page that says that auto mode can't check a call.
func (f *Fold) coversAside(r *request, d *agent.Dialog) bool {
	missed := f.m.Ready && !f.m.Before.IsZero() && !r.Opened.Before(f.m.Before)
	between := (d.Type == agent.PromptSetup || asksAside(d)) && d.Subtype != agent.SubtypeAutoMode
	waits := func(o *request) bool { return o.Told && !o.Prompt.OnScreen && o.Prompt.Type != d.Type }
	_, names := f.driver.(agent.OpenCallNamer) // see openLines
	asks := !names && (between || len(d.Options) > 0) && d.Subtype != agent.SubtypeAutoMode
	return f.m.Look.below(f.now) || missed || between && len(f.m.Calls) > 0 || asks && f.opens() ||
		(between || len(d.Options) > 0) && slices.ContainsFunc(f.m.Requests, waits)
}

// ruled reports whether rules read the program. It is tried with no word, and its questions may go by themselves. So none of them is kept,
// but what the program before has left is.
func (f *Fold) ruled() bool {
	_, ruled := f.driver.(agent.RulesNamer)
	return ruled
}

// faceOf is the dialog's face.
func faceOf(d *agent.Dialog) face {
	n := face{look: look{Key: lookOf(dialogKey(d))}, Cut: d.Cut, Size: size(d)}
	words := append([]string{string(d.Type), d.Subtype, d.Title, d.Agent, d.Tool, d.Question}, sections(d)...)
	for _, field := range d.Fields {
		words = append(words, field.Heading())
	}
	n.Words = lookOf(joined(words))
	if d.Type != agent.PromptForm && (d.Type != agent.PromptPermission || d.Subtype != "") {
		var page []string
		if d.Type == agent.PromptQuestion || d.Type == agent.PromptNotice {
			page = append(page, d.Title, d.Body, d.Question)
		}
		for _, o := range d.Options {
			page = append(page, o.Label, o.More)
		}
		n.Page = lookOf(joined(page))
	}
	return n
}

// joined are the texts without blanks, one a line.
func joined(texts []string) string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = dense(text)
	}
	return strings.Join(all, "\n")
}

// draws reports whether two faces are drawn alike.
func (n *face) draws(o *face) bool { return n.Key == o.Key && n.Page == o.Page && n.Cut == o.Cut }

// isBelow reports whether the dialog that was there before may be below d, the dialog of prompt r, and is another one. The pages of a
// question that was only seen are one prompt, and each may be another question's. A dialog that had no room may be another call's, unless the
// session log has no other one and the screen has another size.
func (f *Fold) isBelow(n face, r *request, d *agent.Dialog) bool {
	now := faceOf(d)
	only := n.Cut && n.Size != now.Size && d.Type == agent.PromptPermission && f.isOnlyOpen(d)
	part := !only && (n.Part || n.Cut && (n.Size == now.Size || d.Type == agent.PromptPermission))
	page := n.Page == now.Page || d.Type != agent.PromptQuestion && !r.seenOnly()
	same := n.ID != "" && n.ID == r.Prompt.ID && (!part || d.Cut) && page
	rewrapped := n.Words == now.Words && n.Size != now.Size && n.Page == now.Page && !n.Cut && !d.Cut && f.onlyCallOf()
	return n.below(f.now) && !n.draws(&now) && !same && !rewrapped
}

// onlyCallOf reports whether the session log has one call that the dialog on the screen may be about, and none that differs from it in
// blanks and line breaks alone. A terminal of another size wraps both alike.
func (f *Fold) onlyCallOf() bool {
	m, input := &f.m, ""
	for i := range m.Calls {
		switch c := &m.Calls[i]; {
		case c.Look != m.Look.Key:
		case c.Logged == "", input != "" && input != c.Logged:
			return false
		default:
			input = c.Logged
		}
	}
	words := wordsOf(input)
	other := func(in string) bool { return in != "" && in != input && wordsOf(in) == words }
	logged := worded{lookOf(words), lookOf(input)}
	if m.OpenMore || f.lacksLog() {
		return false
	}
	return words != "" && !slices.ContainsFunc(slices.Concat(m.Calls, m.Unasked, f.opened()), func(c call) bool { return other(c.Input) }) &&
		!slices.ContainsFunc(m.Worded, func(w worded) bool { return w.Words == logged.Words && w != logged })
}

// wordedKept bounds the calls whose words are kept. They are those of a few steps of the agent, and it asks about the last step's.
const wordedKept = 256

// keepWords keeps the words of a call that the log has reported. Any process can report that it is over, so it counts after that too.
func (f *Fold) keepWords(input string) {
	m, w := &f.m, worded{lookOf(wordsOf(input)), lookOf(input)}
	if slices.Contains(m.Worded, w) {
		return
	}
	if m.Worded = append(m.Worded, w); len(m.Worded) > wordedKept {
		m.Worded = slices.Clone(m.Worded[1:])
	}
}

// wordsOf is the text of a call's input without blanks.
func wordsOf(input string) string {
	var v any
	if json.Unmarshal([]byte(input), &v) != nil {
		return ""
	}
	return dense(fmt.Sprint(v))
}

// isShown records whose dialog is on the screen. One that shows only a part may be another prompt's: of a permission always, because two calls
// may have that part, and of a plan or a question unless all of it was shown before.
func (f *Fold) isShown(r *request, d *agent.Dialog, how agent.Match) {
	if now := faceOf(d); f.m.Face.draws(&now) {
		f.m.Face.ID, f.m.Face.Part = r.Prompt.ID, how == agent.AlikeMatch || how == agent.PartMatch && !(r.Whole && d.Type != agent.PromptPermission)
	}
}

// facesAt follows the dialogs as they come to the screen and leave it.
func (f *Fold) facesAt(d *agent.Dialog) {
	m := &f.m
	if f.ruled() {
		return
	}
	m.Under = slices.DeleteFunc(m.Under, func(u face) bool { return !u.below(f.now) })
	var now face
	if d != nil && answersSome(d) {
		now = faceOf(d)
	}
	if m.Face.Key != "" {
		if m.Face.draws(&now) {
			m.Face.Size = now.Size
			m.Face.follow(true, now.Key, m.Screen.Shown, f.now)
			m.Face.grows(d)
			return
		}
		if now.Resized = m.Face.Resized; m.Face.Size != now.Size {
			now.Resized = f.now
		}
		f.placesUnder()
	}
	if now.Key == "" {
		return
	}
	now.Since = f.now
	m.Under = slices.DeleteFunc(m.Under, func(u face) bool {
		if u.draws(&now) {
			if now.ID, now.Part = u.ID, u.Part; f.now.Sub(u.Gone) < tornWithin {
				now.Since = u.Since
			}
			return true
		}
		return u.drafts(d, f.now)
	})
	now.grows(d)
	m.Face = now
}

// grows keeps the lines of a half-drawn dialog.
func (n *face) grows(d *agent.Dialog) {
	if n.Lines = nil; d.Partial {
		n.Lines = d.Lines
	}
}

// drafts reports whether the dialog that has just gone was d, half drawn: d begins with its lines. Claude Code draws an ellipsis in the
// place of an edit at first, and d ends with the lines after that. A file can have such a line, too, so a dialog that stays was no draft.
func (n *face) drafts(d *agent.Dialog, now time.Time) bool {
	begins, ends := n.Lines, []string(nil)
	if i := slices.IndexFunc(n.Lines, func(s string) bool { return strings.TrimSpace(s) == "…" }); i >= 0 {
		begins, ends = n.Lines[:i], n.Lines[i+1:]
	}
	rest := len(d.Lines) - len(ends)
	return len(begins) > 0 && now.Sub(n.Gone) < tornWithin && n.Gone.Sub(n.Since) < resizeSettles && len(begins) <= rest &&
		slices.Equal(begins, d.Lines[:len(begins)]) && slices.Equal(ends, d.Lines[rest:])
}

// placesUnder keeps the dialog that has gone, if no answer to it is known. After a resize the terminal shows the open one in other rows,
// until its agent has drawn it anew.
func (f *Fold) placesUnder() {
	m := &f.m
	one := m.Face
	m.Face, one.Gone = face{}, f.now
	redrawn := one.ID == "" && !one.Resized.IsZero() && f.now.Sub(one.Resized) < resizeSettles
	if one.below(f.now) && !redrawn {
		f.keepUnder(one)
	}
}

// keepUnder keeps a dialog that may be below, or, without room, that there is one.
func (f *Fold) keepUnder(one face) {
	if m := &f.m; len(m.Under) < undersKept {
		m.Under = append(m.Under, one)
	} else {
		m.Under[undersKept-1] = anyFace(f.now)
	}
}

// anyFace is a dialog that was there at that time. How it was drawn isn't known.
func anyFace(at time.Time) face { return face{look: look{Key: anyDialog, Since: at, Gone: at}} }

// hearsOf is hears, if the dialog was the prompt's.
func (n *face) hearsOf(r *request, now time.Time) {
	if n.ID == r.Prompt.ID {
		n.hears(now)
	}
}

// answersUnder forgets the dialogs below, and the prompts whose dialogs may be there, that a key or a word, typed at that time, shows to
// be over.
func (f *Fold) answersUnder(typed time.Time) {
	m := &f.m
	m.Under = slices.DeleteFunc(m.Under, func(u face) bool { return u.Since.Before(typed) })
	m.Lost = slices.DeleteFunc(m.Lost, func(r *request) bool { return r.Waits && r.Opened.Before(typed) })
}

// isUnder reports whether the lost prompt's dialog may be below, without having been on the screen.
func (r *request) isUnder() bool { return r.Waits && !r.Foreign }
