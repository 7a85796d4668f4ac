package detect

import (
	"slices"
	"strings"
	"time"

	"berth/agent"
	"berth/api"
)

// spentHolds is how long an answered dialog may stay on the screen before it counts as a new one.
const spentHolds = time.Second

// spent reports whether the dialog on the screen is answered, and the agent hasn't removed it yet.
func (f *Fold) spent() bool {
	at := f.m.Screen.Spent
	return !at.IsZero() && f.now.Sub(at) < spentHolds
}

// takenHolds is how long a dialog that shows only a part of the prompt may stay after its hook
// passed the answer to the agent. Claude Code took 900 ms to remove one, and redrew it meanwhile,
// on a machine with six times the work that it can do.
const takenHolds = 3 * time.Second

// turn stores which dialog the screen shows now. A dialog that is back after a short empty frame is
// the same dialog.
func (s *screen) turn(key string, now time.Time) {
	if key == s.Key {
		return
	}
	was := s.Torn
	s.Torn = torn{}
	if key == "" && !s.Blank.IsZero() {
		s.Torn = torn{Key: s.Key, At: now, Shown: s.Shown, Spent: s.Spent}
	}
	s.Key, s.Shown, s.Spent = key, now, time.Time{}
	if key != "" && key == was.Key && now.Sub(was.At) < tornWithin {
		s.Shown, s.Spent = was.Shown, was.Spent
	}
}

// up reports whether the prompt's dialog is on the screen, or was until the current frame, which
// may be half drawn.
func (f *Fold) up(r *request) bool {
	t := f.m.Screen.Torn
	return r.Prompt.OnScreen || r.Seen && r.Key != "" && r.Key == t.Key && f.now.Sub(t.At) < tornWithin
}

// ends marks a prompt that was reported as over while its dialog is on the screen.
func (f *Fold) ends(r *request, how string, w why, stopped bool) {
	if r.Over == nil {
		r.Over = &over{How: how, Why: w, Stopped: stopped, At: f.now}
	}
}

// landed closes the prompts that were reported as over, once their dialogs are gone. A dialog that
// stays isn't answered, whatever was reported.
func (f *Fold) landed() {
	m := &f.m
	for _, r := range m.Requests {
		switch {
		case r.Over == nil:
		case f.up(r):
			r.Over.Denied = f.due(agent.MoveAnswer, agent.SourceScreen, r.Over.At, spentHolds)
			if t := m.Screen.Torn; !r.Prompt.OnScreen {
				f.due(agent.MoveAnswer, agent.SourceScreen, t.At, tornWithin)
			}
		default:
			o := *r.Over
			m.Why = o.Why
			m.Requests = slices.DeleteFunc(slices.Clone(m.Requests), func(other *request) bool { return other == r })
			f.close(r, o.How, o.Why, o.Stopped)
		}
	}
}

// answer marks the dialog on the screen as answered, or the one that was there until the current
// frame.
func (s *screen) answer(now time.Time) {
	s.Spent = now
	if s.Torn.Key != "" {
		s.Torn.Spent = now
	}
}

// spend marks the dialog as answered because its turn is over, although the agent may not have
// removed it yet.
func (f *Fold) spend() {
	if d := f.dialog(); d != nil && ofWork(d) || f.m.Screen.Torn.Key != "" {
		f.m.Screen.answer(f.now)
	}
}

// afterwards reports whether the screen shows a dialog about the ending turn that isn't a prompt
// yet.
func (f *Fold) afterwards() bool {
	d := f.dialog()
	if d == nil || !d.AfterTurn || d.Partial || f.spent() || !f.may(agent.MoveAsk, agent.SourceScreen) {
		return false
	}
	for _, r := range f.m.Requests {
		if r.Prompt.OnScreen {
			return false
		}
	}
	return true
}

func (f *Fold) dialog() *agent.Dialog {
	if r := f.m.Screen.Reading; r != nil {
		return r.Dialog
	}
	return nil
}

// placed sets the folder that the dialog's paths may be relative to.
func (f *Fold) placed(d *agent.Dialog) {
	if d != nil {
		d.Dir = f.o.Dir
	}
}

// EarlierWithin is how much later than another one of parallel calls an earlier one may ask. Gemini CLI shows the first in
// their order among those that ask. At a load of 17 the first asked 0.1 s after the second, and its dialog took the
// second's place as a key was pressed 0.5 s after that: the key allowed the first.
const EarlierWithin = 2 * time.Second

// givesWay reports whether the dialog may give way to that of an earlier one of parallel calls: it isn't the first of them,
// and the one before it hasn't just been answered.
func (f *Fold) givesWay(d *agent.Dialog) bool {
	last := f.m.Screen.Placed
	return d != nil && d.Place > 1 && (last.Place != d.Place-1 || f.m.Screen.Shown.Sub(last.At) > time.Second)
}

// shows says how much of the prompt the dialog shows. For a prompt that only a dialog showed, it
// compares the two dialogs.
func (f *Fold) shows(d *agent.Dialog, r *request) agent.Match {
	if !r.seenOnly() {
		return f.driver.Match(d, r.Prompt)
	}
	switch {
	case r.Place != 0 && d.Place != 0 && r.Place != d.Place:
		return agent.NoMatch // they belong to parallel tool calls
	case d.Type == agent.PromptQuestion && d.Type == r.Prompt.Type: // the dialog may be another page of the prompt
		if d.Key != "" && d.Key != r.Key && !d.Cut {
			return agent.NoMatch
		}
		switch m := f.driver.Match(d, r.Prompt); {
		case m == agent.WholeMatch, d.Cut:
			return m
		case m == agent.AlikeMatch && r.drewPage(d):
			return agent.WholeMatch
		}
		return agent.NoMatch
	case r.Key != dialogKey(d) && (r.Size == size(d) || !r.resized(d)), !r.explains(d):
		return agent.NoMatch
	case d.Cut, d.Type == agent.PromptPermission && d.Title == "" && agent.Value(r.Prompt.Title) != "": // without room for the title, which names the tool and the subagent
		return agent.PartMatch
	}
	return agent.WholeMatch
}

// drewPage reports whether the dialog is drawn as one of the pages that the prompt was read from. A
// hook's text that is drawn so can be another one: a word that is longer than a row looks like two.
func (r *request) drewPage(d *agent.Dialog) bool {
	return slices.ContainsFunc(r.Prompt.Questions, func(q agent.Question) bool {
		return q.Text == d.Body && len(q.Options) <= len(d.Options) && slices.Equal(q.Options, d.Labels()[:len(q.Options)])
	})
}

// match finds the prompt of the dialog on the screen.
func (f *Fold) match(d *agent.Dialog) {
	var shown *request
	how := agent.NoMatch
	if d != nil {
		shown, how = f.asking(d)
		if f.spent() && shown != nil && !shown.Prompt.OnScreen && (shown.Over == nil || shown.Key != dialogKey(d)) {
			shown = nil // the answered dialog isn't removed yet
		}
	}
	for _, r := range f.m.Requests {
		if r != shown {
			r.Prompt.OnScreen = false
		}
	}
	if shown != nil {
		f.show(shown, d, how)
	}
	f.landed()
}

// asking finds the dialog's prompt: the one that the dialog shows most of. With equal matches a
// reported prompt comes before a seen one, one whose hook waits before one without, and one on the
// screen before another. It is nil if the dialog belongs to none.
//
// A prompt that asItIs is true for doesn't count: its dialog becomes a prompt of its own.
func (f *Fold) asking(d *agent.Dialog) (of *request, how agent.Match) {
	best := 0
	for _, r := range f.m.Requests {
		m := f.shows(d, r)
		if m == agent.NoMatch || f.asItIs(d, r, m) && !(m == agent.AlikeMatch && f.given(r)) {
			continue
		}
		rank := 16 * int(m)
		if r.Told {
			rank += 8
		}
		if r.Hook != "" {
			rank += 4
		}
		if r.Prompt.OnScreen {
			rank += 2
		}
		if r.Over == nil {
			rank++
		}
		if rank > best {
			of, how, best = r, m, rank
		}
	}
	return f.unanswered(of), how
}

// asItIs reports whether the dialog becomes a prompt of its own, as it is drawn: it shows only a
// part of the reported prompt although nothing is cut off, or it may show another prompt, and no
// hook waits for the answer.
func (f *Fold) asItIs(d *agent.Dialog, r *request, m agent.Match) bool {
	return m != agent.NoMatch && m != agent.WholeMatch && !d.Cut && r.Hook == "" && !r.seenOnly()
}

// given reports whether the prompt's hook has just gone, so that the dialog may go too.
func (f *Fold) given(r *request) bool {
	at := f.m.Screen.Given
	return !at.IsZero() && f.now.Sub(at) < spentHolds || !r.Taken.IsZero() && f.now.Sub(r.Taken) < takenHolds
}

// Asks reports whether the dialog is that of the prompt with this id, and shows all that the prompt
// asks.
func (f *Fold) Asks(d *agent.Dialog, id string) bool {
	f.placed(d)
	r, how := f.asking(d)
	return r != nil && r.Prompt.ID == id && how == agent.WholeMatch && !f.disputed(r) && (r.Over == nil || r.Over.Denied) && r.Typed.IsZero() && !r.spent()
}

// show gives the dialog to prompt r. A prompt that was on the screen before is over then, unless
// r's dialog was put in front of it: of parallel tool calls the first may ask after the second. A
// reported prompt stays while it may be this very dialog, drawn differently.
func (f *Fold) show(r *request, d *agent.Dialog, how agent.Match) {
	anew := r.offersElse(d)
	if anew {
		f.renew(r)
	}
	of := func(o *request) bool {
		sure := how >= agent.AlikeMatch && !r.seenOnly()
		over := d.Type == agent.PromptForm && o.Hook != "" // a server's form is drawn over a permission whose hook waits on
		return o != r && o.Seen && !over && (d.Place == 0 || o.Place <= d.Place) && (sure || !contradicts(o, r, d))
	}
	f.supersede(r, func(o *request) bool { return of(o) && o.seenOnly() && o.Prompt.OnScreen }) // this is its dialog
	named := namedOpen(r.Prompt)
	f.driver.Fill(r.Prompt, d)
	for _, lines := range named { // a notice has its dialog's text anew
		addLines(r.Prompt, lines)
	}
	r.Prompt.OnScreen, r.Place = true, d.Place
	r.Seen = r.Seen || how >= agent.AlikeMatch || r.Hook == "" // a dialog that shows r in part may be another prompt's
	r.Whole = r.Whole || how >= agent.AlikeMatch
	r.drawn(d)
	r.Prompt.Alike = f.alike(d, r) && r.seenOnly()
	if anew || listed(r.Prompt, d) && len(d.Options) > len(r.Offered) { // no options yet, or a longer part of the list: they are filled in
		r.Offered, r.Short = d.Labels(), d.Short
	}
	r.keep()
	if anew {
		f.result.Opened = append(f.result.Opened, r.Prompt.Clone())
	}
	f.closeAll("gone", agent.SourceScreen, "screen:dialog", false, of)
}

// offersElse reports whether the dialog has other options than the prompt's id has shown. The chosen
// option may show text that is typed into it, so its label doesn't count; in a dialog with a key
// that text is separate, and the label counts. Frames that are half drawn, and a time off the
// screen, don't change what the id has shown. A list without room for all of its options is a part
// of the same list.
func (r *request) offersElse(d *agent.Dialog) bool {
	if r.Offered == nil || !listed(r.Prompt, d) {
		return false
	}
	if n := len(d.Options); n < len(r.Offered) && !d.Short || n > len(r.Offered) && !r.Short {
		return true
	}
	for i, o := range d.Options[:min(len(d.Options), len(r.Offered))] {
		if o.Label != r.Offered[i] && !shortens(o.Label, r.Offered[i]) && (d.Key != "" || !o.Focused) {
			return true
		}
	}
	return false
}

// shortens reports whether a label is another one that was cut off, as on a narrower screen.
func shortens(label, whole string) bool {
	start, cut := strings.CutSuffix(label, "…")
	return cut && start != "" && strings.HasPrefix(whole, start)
}

// listed reports whether the dialog is drawn to its end and its options are the prompt's. A prompt
// with a list of questions has options for each question, and the driver compares those.
func listed(p *agent.Request, d *agent.Dialog) bool {
	lists := p.Type == agent.PromptPermission || p.Type == agent.PromptPlan || p.Type == agent.PromptNotice || p.Type == agent.PromptSetup || p.Type == agent.PromptQuestion && len(p.Questions) == 0
	return lists && !d.Partial && d.Subtype != agent.SubtypeTheme && d.Subtype != agent.SubtypeOAuthLogin // whose labels show what is chosen, or what the browser does
}

// renew gives the prompt a new id, because its dialog asks something else than it has shown.
func (f *Fold) renew(r *request) {
	m := &f.m
	f.close(r, "superseded", why{Tier: agent.TierScreen, Cause: "screen:dialog"}, false)
	m.Opened++
	r.Number, r.Opened = m.Opened, f.now
	r.Prompt.ID, r.Prompt.Since = f.o.PromptID(m.Opened, false), api.At(f.now)
}

// seen opens a prompt for a dialog that no source reported.
func (f *Fold) seen() {
	m := &f.m
	d := f.dialog()
	if d == nil || d.Partial || !f.may(agent.MoveAsk, agent.SourceScreen) {
		return
	}
	for _, at := range []time.Time{m.Screen.Spent, m.Screen.Given} {
		if !at.IsZero() && !f.due(agent.MoveAsk, agent.SourceScreen, at, spentHolds) {
			return
		}
	}
	for _, r := range m.Requests {
		how := f.shows(d, r)
		switch {
		case !r.Taken.IsZero() && (how == agent.PartMatch || how == agent.AlikeMatch) && !f.due(agent.MoveAsk, agent.SourceScreen, r.Taken, takenHolds):
			return
		case r.Prompt.OnScreen && !f.asItIs(d, r, how):
			return
		case how == agent.NoMatch && r.seenOnly() && !r.Seen && r.Key == dialogKey(d) && (slices.Equal(r.Lines, d.Lines) || f.scrolls(d, r)):
			return // the driver doesn't know its own dialog again: a prompt for each look would have no end
		}
		r.Prompt.OnScreen = false
	}
	if !f.due(agent.MoveAsk, agent.SourceScreen, m.Screen.Shown, f.after(agent.MoveAsk, agent.SourceScreen)) {
		return
	}
	if r, how := f.asking(d); r != nil { // it was reported while the answered dialog before it was still on the screen
		f.show(r, d, how)
		return
	}
	fact := agent.Fact{
		Source: agent.SourceScreen, Cause: "screen:" + string(d.Type), Evidence: d.Title, Turn: m.Turn.ID, Tool: d.Tool,
	}
	if m.Turn.Phase == "" && ofWork(d) {
		f.start("", agent.SourceScreen, fact.Cause, fact.Evidence)
		fact.Turn = ""
	}
	p := f.questioned(d, &fact)
	if p == nil {
		p = f.driver.FromDialog(d)
	}
	f.nameUnlogged(p, d)
	p.Lines = d.Lines
	asItIs := func(o *request) bool {
		m := f.shows(d, o)
		return o.Told && o.Hook == "" && m != agent.NoMatch && m != agent.WholeMatch
	}
	for _, o := range m.Requests {
		if asItIs(o) && !f.drawsElse(d, o.Prompt) {
			f.showUndrawn(p, o.Prompt)
		}
	}
	f.nameAlike(p, &request{Prompt: p, Tool: fact.Tool}, d)
	f.nameThread(p, d)
	f.addUndrawn(p, d)
	r := f.open(p, &fact, false)
	r.AfterTurn = d.AfterTurn
	f.supersede(r, func(o *request) bool {
		told := asItIs(o) && !f.leavesOut(o, r.Prompt, d)
		if told {
			f.vouch(r, o.Call, o.Prompt)
		}
		return !o.Prompt.OnScreen && (o.guessed() || told)
	})
}

// scrolls reports whether the dialog asks the question of a prompt that was only seen. Its list may show other rows of it.
func (f *Fold) scrolls(d *agent.Dialog, r *request) bool {
	asks := agent.Value(r.Prompt.Text)
	return d.Type == agent.PromptQuestion && asks != "" && asks == agent.Value(f.driver.FromDialog(d).Text)
}

// questioned makes the prompt of a dialog of questions from the pending tool call, which has the
// questions of all pages. It is nil without such a call.
func (f *Fold) questioned(d *agent.Dialog, fact *agent.Fact) *agent.Request {
	if d.Type != agent.PromptQuestion || d.Tool == "" {
		return nil
	}
	for i := len(f.m.Calls) - 1; i >= 0; i-- {
		if c := &f.m.Calls[i]; c.Tool == d.Tool {
			if p := f.questionOf(c, d, fact); p != nil {
				return p
			}
		}
	}
	return nil
}

// questionOf makes the prompt of a dialog of questions from that call, and completes the fact with
// the call's name. It is nil if the dialog belongs to another call.
func (f *Fold) questionOf(c *call, d *agent.Dialog, fact *agent.Fact) *agent.Request {
	about := *fact
	c.name(&about)
	p := f.driver.Waiting(&about)
	if p.Type != d.Type || f.driver.Match(d, p) != agent.WholeMatch {
		return nil
	}
	f.driver.Fill(p, d)
	*fact = about
	return p
}

// learn completes the prompt of a seen dialog with the questions of its other pages, when the log
// reports the call after the dialog.
func (f *Fold) learn(c *call) {
	d := f.dialog()
	if d == nil || d.Type != agent.PromptQuestion || d.Tool != c.Tool {
		return
	}
	for _, r := range f.m.Requests {
		if r.Told || !r.Prompt.OnScreen || r.Call != "" || r.Prompt.Type != d.Type {
			continue
		}
		var fact agent.Fact
		p := f.questionOf(c, d, &fact)
		if p == nil {
			continue
		}
		p.ID, p.Since, p.OnScreen, p.Channel = r.Prompt.ID, r.Prompt.Since, true, r.Prompt.Channel
		r.Prompt, r.Agent, r.Call, r.Input = p, c.Agent, c.ID, c.Input
		r.keep()
		return
	}
}

// blankHolds is how long the screen may be empty between two startup dialogs.
const blankHolds = 500 * time.Millisecond

// leftBlank closes a startup prompt whose dialog has gone without a next one: the agent starts up,
// or starts again.
func (f *Fold) leftBlank() {
	m := &f.m
	if m.Ready || len(m.Requests) == 0 || m.Screen.Blank.IsZero() || !f.may(agent.MoveAnswer, agent.SourceScreen) {
		return
	}
	if !f.due(agent.MoveAnswer, agent.SourceScreen, m.Screen.Blank, blankHolds) {
		return
	}
	f.closeAll("gone", agent.SourceScreen, "screen:nothing", false, func(r *request) bool { return r.Seen && !r.Told })
}

// gone closes the prompts whose dialogs were on the screen, once only the composer is there.
func (f *Fold) gone() {
	m := &f.m
	f.leftBlank()
	if len(m.Requests) == 0 || m.Screen.Gone.IsZero() || !f.may(agent.MoveAnswer, agent.SourceScreen) {
		return
	}
	after := f.after(agent.MoveAnswer, agent.SourceScreen)
	f.closeAll("gone", agent.SourceScreen, "screen:composer", false, func(r *request) bool {
		if r.Seen {
			return f.due(agent.MoveAnswer, agent.SourceScreen, m.Screen.Gone, after)
		}
		// An agent delays a dialog while a person types. A dialog that never comes was answered
		// before it was drawn.
		return !f.hidden(r) && !m.Screen.Bare.IsZero() && f.due(agent.MoveAnswer, agent.SourceScreen, latest(m.Screen.Bare, m.Screen.Changed, m.Changed, r.Opened), silence)
	})
}
