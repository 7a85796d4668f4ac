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

// contradicts reports whether a reported prompt may be the one whose dialog shows something else. A
// hook can be forged, and a terminal doesn't draw every character.
func contradicts(reported, seen *request, d *agent.Dialog) bool {
	return reported.Told && !reported.Prompt.OnScreen && reported.Prompt.Type == seen.Prompt.Type &&
		(reported.Tool == "" || seen.Tool == "" || d.Tool == "" || reported.Tool == seen.Tool)
}

// disputed reports whether the dialog may belong to another prompt than the one it was matched
// with: a reported prompt has no dialog, and its dialog could look like this one. It is also
// disputed if the session log has another call than the dialog shows.
func (f *Fold) disputed(r *request) bool {
	d := f.dialog()
	if d == nil || !r.Prompt.OnScreen {
		return false
	}
	by := func(o *request) bool { return o != r && f.disputes(o, r, d) }
	_, hidden := f.concealed(r, d)
	return r.Uncalled || (f.m.Forgotten || !f.m.Cut.IsZero()) && ofWork(d) || slices.ContainsFunc(f.m.Requests, by) || slices.ContainsFunc(f.m.Lost, by) || f.misnamed(r, d) || f.misreported(r, d) || f.mislaid(r, d) || f.unlogged(r, d) || hidden || f.unhooked(r, d) || f.unconfirmed(r, d) || f.drawnUnasked(r, d) || f.covers(r, d)
}

// misnamed reports whether the dialog may be about another call than the one that the prompt shows. The
// agent doesn't say which of its calls it asks about, and this one differs in what no dialog draws.
func (f *Fold) misnamed(r *request, d *agent.Dialog) bool {
	if _, ok := f.driver.(agent.CallNamer); !ok || r.Prompt.Type != agent.PromptPermission {
		return false
	}
	return slices.ContainsFunc(slices.Concat(f.m.Calls, f.m.Unasked), func(c call) bool {
		if !f.ofTool(r, d, &c) || r.Told && c.Input == r.Input {
			return false
		}
		p := f.called(&c)
		if !r.Told {
			return f.driver.Match(d, p) != agent.NoMatch && !f.drawsAll(r, d, p)
		}
		f.showUndrawn(p, p)
		return f.driver.Match(d, p) == agent.WholeMatch && !saysSame(p, r.Prompt)
	})
}

// drawsAll reports whether a prompt that was only seen shows what its dialog doesn't draw of the call.
func (f *Fold) drawsAll(r *request, d *agent.Dialog, call *agent.Request) bool {
	seen := f.driver.FromDialog(d)
	without := agent.Value(seen.Text)
	f.showUndrawn(seen, call)
	with := agent.Value(seen.Text)
	return agent.Value(r.Prompt.Text) == with || with != without && says(r.Prompt, strings.TrimPrefix(with, without+"\n\n")) ||
		f.namesAlike(call) && says(r.Prompt, orAlso(f.undrawn(call)))
}

// misreported reports whether the dialog may be about another call than the hook's: the agent has
// started one that is drawn the same, and its prompt would have another text. A call whose own hook
// waits isn't in question.
func (f *Fold) misreported(r *request, d *agent.Dialog) bool {
	if _, names := f.driver.(agent.CallNamer); names || !r.Told || r.Prompt.Type != agent.PromptPermission {
		return false
	}
	text := func(c call) (*agent.Request, string) {
		p := f.called(&c)
		return p, agent.Value(p.Text)
	}
	_, told := text(call{Tool: r.Tool, Input: r.Input})
	return slices.ContainsFunc(f.m.Calls, func(c call) bool {
		if c.Tool != r.Tool || c.Input == r.Input ||
			slices.ContainsFunc(f.m.Requests, func(o *request) bool { return o != r && o.Hook != "" && f.isOf(o, &c) }) {
			return false
		}
		p, says := text(c)
		return says != told && f.driver.Match(d, p) == agent.WholeMatch
	})
}

// unaskedKept and unaskedBytes bound the calls that were reported as over before they asked.
const (
	unaskedKept  = 256
	unaskedBytes = 4 << 20
)

// unasked keeps calls that were reported as over, if their dialogs may be taken for another one's: of agents that don't
// say which of their calls they ask about, and calls with something that no dialog draws. Any process of the session can
// report that, name the call in a hook about another dialog, and cover its dialog. So a dialog may be about such a call
// until the agent rests: see found. A call that Berth's key has allowed isn't kept.
func (f *Fold) unasked(over ...call) {
	m := &f.m
	namer, names := f.driver.(agent.CallNamer)
	_, leavesOut := f.driver.(agent.UndrawnInputReader)
	_, joins := f.driver.(agent.CallJoiner)
	for _, c := range over {
		by, allowed := f.allowedBy(&c)
		if allowed && (by == nil || !f.asksOn(by, &c)) {
			continue
		}
		f.outlasts(c)
		lines := f.undrawn(c.asks())
		same := func(o call) bool {
			late := joins && lines != "" && o.ID != c.ID && !o.Joined && !c.Joined // the permission of either may come, and lacks these lines
			return o.Tool == c.Tool && o.Agent == c.Agent && o.Input == c.Input && o.Full == c.Full && f.undrawn(o.asks()) == lines && !late
		}
		alike := names && (namer.DialogNames(c.Tool) || f.ofNoName(c.Tool)) || !names && leavesOut && c.Asks != nil
		if !alike {
			continue
		}
		if i := slices.IndexFunc(m.Unasked, same); i >= 0 {
			c.Look, c.Joined = f.oneLook(c.Look, m.Unasked[i].Look), true // it is several calls
			m.Unasked = slices.Delete(m.Unasked, i, i+1)
		}
		c.Since, c.Plain = f.now, f.ofNoName(c.Tool) && f.undrawn(f.called(&c)) == ""
		m.Unasked = append(m.Unasked, c)
		for len(m.Unasked) > unaskedKept || sizes(m.Unasked) > unaskedBytes {
			f.crowdOut()
		}
	}
}

// crowdOut forgets the oldest call that was reported as over: one that does no more than is drawn, if there is one, because
// then it is known what was forgotten, or else one whose dialog names no tool, which only such dialogs may be about. A call
// whose dialog wasn't answered is the last to go.
func (f *Fold) crowdOut() {
	m := &f.m
	oldest := func(also func(c call) bool) int {
		return slices.IndexFunc(m.Unasked, func(c call) bool { return f.isAnswered(c.Look) && also(c) })
	}
	ofNoName := func(c call) bool { return f.ofNoName(c.Tool) }
	i := oldest(f.drawsWhole)
	if i < 0 {
		i = oldest(ofNoName)
	}
	if i < 0 {
		i = max(0, oldest(func(call) bool { return true }))
	}
	switch c := m.Unasked[i]; {
	case f.drawsWhole(c):
		m.Plain = f.now
	case ofNoName(c):
		f.unpast(c.Tool)
	default:
		m.Forgotten = true
	}
	m.Unasked = slices.Delete(m.Unasked, i, i+1)
}

// allowedBy reports whether a key of Berth has allowed the call, at a dialog that showed all of it. by is the prompt of that dialog, if that is
// still there. Another dialog of that call asks for nothing else.
func (f *Fold) allowedBy(c *call) (by *request, allowed bool) {
	for _, r := range f.m.Requests {
		if r.allowedOne() && !r.isBefore(c) && f.isOf(r, c) && f.equals(r) < 2 {
			return r, true
		}
	}
	return nil, c.Allowed
}

// sizes is about how many bytes calls take.
func sizes(calls []call) (n int) {
	for _, c := range calls {
		n += len(c.Input) + len(c.Full) + len(c.Raw) + len(c.Logged) + len(c.Used)
	}
	return n
}

// saysSame says whether two permissions show a person the same of their own calls.
func saysSame(a, b *agent.Request) bool { return a.FullInput == b.FullInput && alone(a) == alone(b) }

// disputes reports whether prompt o disputes r's dialog d. A prompt whose hook waits always does,
// because the agent asks it somewhere, whatever another hook reports about the dialog. Without a
// waiting hook it is one hook's report against another's. The dialog is then disputed if no report
// explains it, if r was reported as over, or if characters may not be drawn.
func (f *Fold) disputes(o, r *request, d *agent.Dialog) bool {
	// A dialog without a report may be of another type than the driver read.
	misread := r.seenOnly() && o.Told && o.Waits && !o.Prompt.OnScreen && o.Prompt.Type != r.Prompt.Type && (r.Prompt.Type != agent.PromptNotice || len(d.Options) > 0)
	if !misread && !contradicts(o, r, d) {
		return false
	}
	switch f.shows(d, o) {
	case agent.WholeMatch: // a dialog doesn't draw each field of an input, or each value of a schema
		if o.Foreign && r.seenOnly() {
			return f.leavesOut(o, r.Prompt, d) // otherwise the dialog is o's
		}
		if !o.Waits && !r.Waits && r.Prompt.Type == agent.PromptPermission && !saysSame(o.Prompt, r.Prompt) {
			return true // no hook of either waits, so each is as likely
		}
		return o.Waits && canonical(o.Prompt.Raw) != canonical(r.Prompt.Raw) || !sameForm(r.Prompt, o.Prompt)
	case agent.PartMatch, agent.AlikeMatch: // such as a file that the dialog names without its folder
		return r.Told && !d.Cut || r.seenOnly() && f.leavesOut(o, r.Prompt, d)
	}
	return o.Waits || r.seenOnly() && !r.Vouched || r.Over != nil || hides(o.Prompt) || pales(o.Prompt, r.Prompt)
}

// lostKept bounds the kept prompts that were reported as over before a dialog showed them.
const lostKept = 16

// lose keeps a prompt that was reported as over before its dialog was seen. Any process of the
// session can report that, and the next dialog may be that prompt's, so the dialog stays contested. Any process can draw a composer, too, so
// that ends only a prompt without a waiting hook. A hook that took a refusal, or the answer to a question or a plan, may have been another
// process's, so its prompt counts for an hour.
func (f *Fold) lose(r *request, how string, w why) {
	m := &f.m
	ended := w.Tier == agent.TierScreen && !r.Waits && !r.Given
	if !r.Told || r.Seen || r.hookAllowed() || ended || how == "superseded" {
		return
	}
	contests := func(shown *request) bool {
		return shown != r && shown.Prompt.OnScreen && f.disputes(r, shown, f.dialog())
	}
	if !r.Waits && !r.Given && !f.faint(r.Prompt) && (f.dialog() == nil || !slices.ContainsFunc(m.Requests, contests)) {
		return
	}
	lost := *r
	lost.Hook, lost.LostBy, lost.Key, lost.Opened = "", r.Hook, m.Screen.Key, f.now
	lost.Waits = r.Waits || r.Given
	f.keepLost(&lost)
}

// loseForeign keeps a prompt of another conversation whose hook waits. Any process of the session
// can report that the agent has left its conversation. The agent's own prompts are then foreign,
// and the next dialog may be one of them.
func (f *Fold) loseForeign(fact *agent.Fact) {
	if fact.Kind != agent.Asked || fact.Hook == "" || fact.Request == nil {
		return
	}
	fact = f.withUndrawn(f.named(fact))
	lost := &request{
		Prompt: fact.Request, Opened: f.now, Told: true, Turn: fact.Turn, Agent: fact.Agent, Tool: fact.Tool,
		Input: canonical(fact.Input), At: fact.At, By: fact.Source,
	}
	lost.Waits, lost.Foreign, lost.Key = true, true, f.m.Screen.Key
	unguess(lost.Prompt)
	lost.keep()
	f.keepLost(lost)
}

func (f *Fold) keepLost(lost *request) {
	m := &f.m
	if m.Lost = append(m.Lost, lost); len(m.Lost) > lostKept {
		if one := m.Lost[0]; one.isUnder() {
			f.keepUnder(anyFace(one.Opened))
		}
		m.Lost, m.Forgotten = append([]*request(nil), m.Lost[1:]...), true
	}
}

// found forgets the lost prompts that can't have a dialog anymore: the screen has shown only the
// composer for a while, and nothing was typed (an agent delays a dialog while a person types). Another process can draw a composer, so
// that isn't enough for one whose hook waited: see answersUnder. A
// lost prompt without a waiting hook disputes only the dialog that was open, unless its own may
// look like another's. What the screen showed while no server read it isn't known.
func (f *Fold) found() {
	m := &f.m
	bare := func(since time.Time) bool {
		return !f.frozen && !m.Screen.Bare.IsZero() && f.now.Sub(latest(m.Screen.Bare, m.Screen.Changed, f.thawed, since)) >= silence
	}
	rests := func(since time.Time) bool { return bare(since) && !f.covered() }
	m.Lost = slices.DeleteFunc(m.Lost, func(r *request) bool {
		heard := r.Given && f.now.Sub(r.Opened) >= pastFor
		return heard || bare(r.Opened) && (!r.Waits || f.ruled()) || !r.Waits && !f.faint(r.Prompt) && r.Key != m.Screen.Key
	})
	f.pastRests(rests)
	m.Unasked = slices.DeleteFunc(m.Unasked, func(c call) bool { return rests(c.Since) && f.mayForget(c.Look) })
	if rests(m.Plain) {
		m.Plain = time.Time{}
	}
	if rests(m.Skipped) {
		m.Skipped = time.Time{}
	}
	if rests(m.Cut) {
		m.Cut = time.Time{}
	}
	m.Forgotten = m.Forgotten && (len(m.Lost) > 0 || len(m.Unasked) > 0 || !bare(time.Time{}))
}

// pastRests forgets the past calls, and the tools whose calls had no room, once the agent rests: its turn is over,
// and the screen has shown an empty composer and nothing else for a while. Their dialogs can't come any more.
func (f *Fold) pastRests(bare func(since time.Time) bool) {
	m := &f.m
	if len(m.Past) == 0 && len(m.Crowded) == 0 || m.Turn.Phase != "" || len(m.Calls) > 0 {
		return
	}
	c, l := m.Screen.Reading, f.level()
	if c == nil || c.Composer == nil || !c.Composer.Empty || l != nil && l.Value == agent.LevelBusy {
		return
	}
	m.Past = slices.DeleteFunc(m.Past, func(p pastCall) bool { return bare(p.At) && f.mayForget(p.Look) })
	m.Crowded = slices.DeleteFunc(m.Crowded, func(u forgotten) bool { return bare(u.At) })
}

// hides reports whether the reported prompt has characters that a screen may not show.
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
		return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) || r == unicode.ReplacementChar)
	})
}

// faint reports whether a reported prompt may be drawn like another one.
func (f *Fold) faint(p *agent.Request) bool {
	_, loses := drawnOf(p)
	return loses || hides(p) || f.undrawn(p) != ""
}

// pales reports whether two prompts may be drawn alike, because the reported one has characters
// that are drawn as blanks or not at all.
func pales(told, shown *agent.Request) bool {
	a, loses := drawnOf(told)
	b, _ := drawnOf(shown)
	return loses && a == b
}

// drawnOf is a prompt's subject without blanks and without characters that have no width. loses
// reports that it has such characters, or tabs, which some agents don't draw.
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

// contest marks the prompts with disputed dialogs and no waiting hook, and sets how each prompt can
// be answered. A prompt can't be answered while its dialog is disputed, or shortly before its
// dialog becomes a prompt of its own.
func (f *Fold) contest() {
	f.found()
	d := f.dialog()
	mute, _ := f.driver.(agent.PartialAnswerer)
	for _, r := range f.m.Requests {
		if f.needsHook(r, d) {
			f.due(agent.MoveAsk, agent.SourceScreen, f.unreportedSince(r), hookLate)
		}
		if f.needsLog(r, d) {
			f.due(agent.MoveAsk, agent.SourceScreen, f.m.Screen.Shown, hookLate)
		}
		if f.lacksPages(r, d) {
			r.Prompt.Ready = !d.Partial && f.due(agent.MoveAsk, agent.SourceScreen, f.m.Screen.Shown, hookLate)
		}
		if r.Prompt.OnScreen && f.givesWay(d) {
			r.Prompt.Ready = !d.Partial && f.due(agent.MoveAsk, agent.SourceScreen, f.m.Screen.Shown, EarlierWithin)
		}
		if r.Prompt.OnScreen && d != nil {
			f.isShown(r, d, f.shows(d, r))
		}
		r.Prompt.Contested = r.Hook == "" && f.disputed(r)
		if r.Prompt.Contested {
			if until, _ := f.concealed(r, d); !until.IsZero() {
				f.due(agent.MoveAsk, agent.SourceScreen, until.Add(-pastFor), pastFor)
			}
		}
		switch {
		case r.Hook != "":
		case r.Prompt.Contested, mute != nil && mute.Unanswerable(r.Prompt), !r.Typed.IsZero(), r.spent(), d != nil && r.Prompt.OnScreen && f.asItIs(d, r, f.shows(d, r)):
			r.Prompt.Channel = agent.ChannelNone
		default:
			r.Prompt.Channel = agent.ChannelKeys
		}
	}
}
