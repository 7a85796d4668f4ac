package detect

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"berth/agent"
	"berth/terminal"
)

// contradicts says that a prompt which the agent told of may be the one whose dialog
// shows something else: a hook can lie, and a character need not be drawn.
func contradicts(told, seen *request) bool {
	return told.Told && !told.Prompt.OnScreen && told.Prompt.Type == seen.Prompt.Type &&
		(told.Tool == "" || seen.Tool == "" || told.Tool == seen.Tool)
}

// disputed says that the dialog may be another's than the prompt's that it was taken
// for: something was told that no dialog shows, and that one may be drawn like this.
func (f *Fold) disputed(r *request) bool {
	d := f.dialog()
	if d == nil || !r.Prompt.OnScreen {
		return false
	}
	by := func(o *request) bool { return o != r && f.disputes(o, r, d) }
	return f.m.Forgotten && ofWork(d) || slices.ContainsFunc(f.m.Requests, by) || slices.ContainsFunc(f.m.Lost, by)
}

// disputes: while a hook waits for its answer, what was told and is not shown is asked
// somewhere, whatever another hook says of the dialog. Where none waits the word of one
// hook is against another's, and the dialog is doubted when nothing told of it, when it
// is over by its own prompt's word, or when characters may not be drawn.
func (f *Fold) disputes(o, r *request, d *agent.Dialog) bool {
	// A dialog that nothing told of may be read as another kind than it is.
	misread := r.seenOnly() && o.Told && o.Waits && !o.Prompt.OnScreen && o.Prompt.Type != r.Prompt.Type && r.Prompt.Type != agent.PromptNotice
	if !misread && !contradicts(o, r) {
		return false
	}
	switch f.shows(d, o) {
	case agent.WholeMatch: // a dialog does not draw each field of an input, nor each value of a schema
		return o.Waits && canonical(o.Prompt.Raw) != canonical(r.Prompt.Raw) || !sameForm(r.Prompt, o.Prompt)
	case agent.PartMatch, agent.AlikeMatch: // as of a file whose name the dialog tells without its folder
		return r.Told && !d.Cut
	}
	return o.Waits || r.seenOnly() && !r.Vouched || r.Over != nil || hides(o.Prompt) || pales(o.Prompt, r.Prompt)
}

// lostKept bounds what is kept of prompts that were told to be over unseen.
const lostKept = 16

// lose keeps a prompt that was told to be over before its dialog was seen. Any process
// of the session can say so, and the dialog may be that one's: it stays contested.
func (f *Fold) lose(r *request, how string, w why) {
	m := &f.m
	if !r.Told || r.Seen || r.Given || w.Tier == agent.TierScreen || how == "superseded" {
		return
	}
	contests := func(shown *request) bool {
		return shown != r && shown.Prompt.OnScreen && f.disputes(r, shown, f.dialog())
	}
	if !r.Waits && !faint(r.Prompt) && (f.dialog() == nil || !slices.ContainsFunc(m.Requests, contests)) {
		return
	}
	lost := *r
	lost.Hook, lost.Key, lost.Opened = "", m.Screen.Key, f.now
	if m.Lost = append(m.Lost, &lost); len(m.Lost) > lostKept {
		m.Lost, m.Forgotten = append([]*request(nil), m.Lost[1:]...), true
	}
}

// found forgets those that can have no dialog any more: the composer has been there
// for a while, with neither dialog nor work, and nothing was typed: a dialog is held back
// while somebody types. One that no hook waited for contests only
// the dialog that was there, unless its own may be drawn like another's.
func (f *Fold) found() {
	m := &f.m
	bare := func(since time.Time) bool {
		return !m.Screen.Bare.IsZero() && f.now.Sub(latest(m.Screen.Bare, m.Screen.Changed, since)) >= silence
	}
	m.Lost = slices.DeleteFunc(m.Lost, func(r *request) bool {
		return bare(r.Opened) || !r.Waits && !faint(r.Prompt) && r.Key != m.Screen.Key
	})
	m.Forgotten = m.Forgotten && (len(m.Lost) > 0 || !bare(time.Time{}))
}

// hides says whether the reported prompt has characters that a screen may not show.
func hides(p *agent.Request) bool {
	raw := p.Raw
	if len(raw) == 0 && (p.FullInput != "" || len(p.Schema) > 0) { // a form, or a call that only a notice reported
		raw, _ = json.Marshal([]any{p.Text, p.FullInput, p.Schema}) // fails for a schema that isn't valid JSON
	}
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return true
	}
	text := fmt.Sprint(v)
	return strings.ContainsFunc(text, func(r rune) bool {
		return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp) || r == unicode.ReplacementChar)
	})
}

// faint says whether the told prompt may be drawn like another one.
func faint(p *agent.Request) bool {
	_, loses := drawnOf(p)
	return loses || hides(p)
}

// pales says whether two prompts may be drawn alike because the told one has characters that are
// drawn as blanks or not at all.
func pales(told, shown *agent.Request) bool {
	a, loses := drawnOf(told)
	b, _ := drawnOf(shown)
	return loses && a == b
}

// drawnOf is what a prompt asks without blanks and without characters that have no width. loses says
// that it has tabs, which some agents draw as nothing, or such characters.
func drawnOf(p *agent.Request) (text string, loses bool) {
	var b strings.Builder
	for _, r := range p.FullInput + "\x00" + agent.Value(p.Text) {
		switch {
		case r == 0, terminal.RuneWidth(r) > 0 && r != ' ':
			b.WriteRune(r)
		case r != ' ' && r != '\n':
			loses = true
		}
	}
	return b.String(), loses
}

// contest marks the prompts whose dialogs are disputed and that no hook waits for, and
// says how each is answered: not at all while it is disputed, or soon asked as its dialog
// has it.
func (f *Fold) contest() {
	f.found()
	d := f.dialog()
	mute, _ := f.driver.(agent.PartialAnswerer)
	for _, r := range f.m.Requests {
		r.Prompt.Contested = r.Hook == "" && f.disputed(r)
		switch {
		case r.Hook != "":
		case r.Prompt.Contested, mute != nil && mute.Unanswerable(r.Prompt), !r.Typed.IsZero(), d != nil && r.Prompt.OnScreen && f.asItIs(d, r, f.shows(d, r)):
			r.Prompt.Channel = agent.ChannelNone
		default:
			r.Prompt.Channel = agent.ChannelKeys
		}
	}
}
