package detect

import (
	"slices"
	"time"

	"berth/agent"
	"berth/api"
)

// spentHolds is how long an answered dialog may stay on the screen before it
// is taken for one that asks anew.
const spentHolds = time.Second

// spent says that the dialog on the screen is answered, and only not yet taken
// away.
func (f *Fold) spent() bool {
	at := f.m.Screen.Spent
	return !at.IsZero() && f.now.Sub(at) < spentHolds
}

// takenHolds is how long a dialog that shows a part of what was asked may stay after its
// hook handed the answer to the agent. Claude Code took 900 ms to take one away, and
// drew it anew meanwhile, with six times the work that the machine can do.
const takenHolds = 3 * time.Second

// tornWithin is how long a frame may be half drawn: Gemini CLI's dialog was off the
// screen for 37 ms as it was answered, at a load of 17.
const tornWithin = 200 * time.Millisecond

// turn notes which dialog the screen shows now. One that is back after a frame
// that showed nothing is the one that was.
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

// up says that the prompt's dialog is on the screen, or was until this frame, which
// may be half drawn.
func (f *Fold) up(r *request) bool {
	t := f.m.Screen.Torn
	return r.Prompt.OnScreen || r.Seen && r.Key != "" && r.Key == t.Key && f.now.Sub(t.At) < tornWithin
}

// ends: the prompt was told to be over while its dialog is on the screen.
func (f *Fold) ends(r *request, how string, w why, stopped bool) {
	if r.Over == nil {
		r.Over = &over{How: how, Why: w, Stopped: stopped, At: f.now}
	}
}

// landed closes the prompts that were told to be over once their dialogs have gone. A
// dialog that stays is not answered, whatever was told.
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

// answer notes that the dialog on the screen is answered, or the one that was there
// until this frame.
func (s *screen) answer(now time.Time) {
	s.Spent = now
	if s.Torn.Key != "" {
		s.Torn.Spent = now
	}
}

// spend: the turn is over, and with it what it asked, though its dialog may
// not have been taken away yet.
func (f *Fold) spend() {
	if d := f.dialog(); d != nil && ofWork(d) || f.m.Screen.Torn.Key != "" {
		f.m.Screen.answer(f.now)
	}
}

// afterwards: a dialog about the turn that ends is on the screen, and only not
// yet one of the prompts.
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

// placed says where the dialog's paths begin.
func (f *Fold) placed(d *agent.Dialog) {
	if d != nil {
		d.Dir = f.o.Dir
	}
}

// shows says how much of the prompt the dialog shows. Of one that only a dialog told
// of, the dialog is that one.
func (f *Fold) shows(d *agent.Dialog, r *request) agent.Match {
	if !r.seenOnly() {
		return f.driver.Match(d, r.Prompt)
	}
	switch {
	case r.Place != 0 && d.Place != 0 && r.Place != d.Place:
		return agent.NoMatch // of calls side by side
	case d.Type == agent.PromptQuestion && d.Type == r.Prompt.Type: // the dialog may be another page of the prompt
		if d.Key != "" && d.Key != r.Key && !d.Cut {
			return agent.NoMatch
		}
		if m := f.driver.Match(d, r.Prompt); m == agent.WholeMatch || d.Cut {
			return m
		}
		return agent.NoMatch
	case r.Key != dialogKey(d) && (r.Size == size(d) || !r.resized(d)), !r.explains(d):
		return agent.NoMatch
	case d.Cut:
		return agent.PartMatch
	}
	return agent.WholeMatch
}

// match puts the dialog on the screen and the prompts together.
func (f *Fold) match(d *agent.Dialog) {
	var shown *request
	how := agent.NoMatch
	if d != nil {
		shown, how = f.asking(d)
		if f.spent() && shown != nil && !shown.Prompt.OnScreen && (shown.Over == nil || shown.Key != dialogKey(d)) {
			shown = nil // what is answered is only not taken away yet
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

// asking is whose dialog it is: that of which it shows most. A prompt that the agent
// told of goes before one that was only seen, one whose hook waits before one without, and
// one that is on the screen before another; nil when it is nobody's.
//
// What is asked as the dialog has it is a prompt of its own.
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
	return of, how
}

// asItIs: the dialog shows the prompt in part, with nothing cut off, or may show another
// one, and no hook waits for the answer. So it is asked as the dialog has it.
func (f *Fold) asItIs(d *agent.Dialog, r *request, m agent.Match) bool {
	return m != agent.NoMatch && m != agent.WholeMatch && !d.Cut && r.Hook == "" && !r.seenOnly()
}

// given says that the prompt's hook has gone just now, and the dialog may go too.
func (f *Fold) given(r *request) bool {
	at := f.m.Screen.Given
	return !at.IsZero() && f.now.Sub(at) < spentHolds || !r.Taken.IsZero() && f.now.Sub(r.Taken) < takenHolds
}

// Asks says whether the dialog is that of the prompt with this id, and shows all that
// it asks.
func (f *Fold) Asks(d *agent.Dialog, id string) bool {
	f.placed(d)
	r, how := f.asking(d)
	return r != nil && r.Prompt.ID == id && how == agent.WholeMatch && !f.disputed(r) && (r.Over == nil || r.Over.Denied) && r.Typed.IsZero()
}

// show: the dialog is this prompt's. A prompt that was on the screen before is
// over then, unless this one was put in front of it: of calls side by side the
// first may ask after the second. One that the agent told of stays while it may be
// this very dialog, drawn otherwise.
func (f *Fold) show(r *request, d *agent.Dialog, how agent.Match) {
	anew := r.Prompt.OnScreen && f.offersElse(r, d)
	if anew {
		f.renew(r)
	}
	of := func(o *request) bool {
		sure := how >= agent.AlikeMatch && !r.seenOnly()
		return o != r && o.Seen && (d.Place == 0 || o.Place <= d.Place) && (sure || !contradicts(o, r))
	}
	f.supersede(r, func(o *request) bool { return of(o) && o.seenOnly() && o.Prompt.OnScreen }) // this is its dialog
	f.driver.Fill(r.Prompt, d)
	r.Prompt.OnScreen, r.Place = true, d.Place
	r.Seen = r.Seen || how >= agent.AlikeMatch || r.Hook == "" // of one that is shown in part it may be another's
	r.drawn(d)
	r.Focus = slices.IndexFunc(d.Options, func(o agent.Option) bool { return o.Focused })
	r.keep()
	if anew {
		f.result.Opened = append(f.result.Opened, r.Prompt.Clone())
	}
	f.closeAll("gone", agent.SourceScreen, "screen:dialog", false, of)
}

// offersElse says whether the dialog has other options than the prompt has shown. The chosen
// option may show text that is typed into it, so its label doesn't count; in a dialog with a key
// that text is separate, and the label counts. A prompt with a list of questions has options for
// each question, and the driver compares those.
func (f *Fold) offersElse(r *request, d *agent.Dialog) bool {
	p := r.Prompt
	lists := p.Type == agent.PromptPermission || p.Type == agent.PromptPlan || p.Type == agent.PromptNotice || p.Type == agent.PromptQuestion && len(p.Questions) == 0
	if p.OptionsFallback || !p.Ready || d.Partial || d.Subtype != "" || !lists {
		return false
	}
	if len(p.Options) != len(d.Options) {
		return true
	}
	for i, o := range d.Options {
		if o.Label != p.Options[i] && (d.Key != "" || !o.Focused && i != r.Focus) {
			return true
		}
	}
	return false
}

// renew gives the prompt a new id: what is asked is not what it has shown.
func (f *Fold) renew(r *request) {
	m := &f.m
	f.close(r, "superseded", why{Tier: agent.TierScreen, Cause: "screen:dialog"}, false)
	m.Opened++
	r.Number, r.Opened = m.Opened, f.now
	r.Prompt.ID, r.Prompt.Since = f.o.PromptID(m.Opened), api.At(f.now)
}

// seen: a dialog is on the screen that no source told of.
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
		}
		r.Prompt.OnScreen = false
	}
	if !f.due(agent.MoveAsk, agent.SourceScreen, m.Screen.Shown, f.after(agent.MoveAsk, agent.SourceScreen)) {
		return
	}
	if r, how := f.asking(d); r != nil { // it was told while what was there before it was only not yet taken away
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
	r := f.open(p, &fact, false)
	r.AfterTurn = d.AfterTurn
	f.supersede(r, func(o *request) bool {
		m := f.shows(d, o)
		told := o.Told && o.Hook == "" && m != agent.NoMatch && m != agent.WholeMatch
		r.Vouched = r.Vouched || told
		return !o.Prompt.OnScreen && (o.guessed() || told)
	})
}

// questioned is the prompt of a dialog of questions as the call has it that has
// not come back, which tells those too that are not shown yet; nil when there is
// none.
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

// questionOf is the prompt of a dialog of questions as that call has it, and the
// fact with the call's name; nil when the dialog is another's.
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

// learn: the log may tell of a call after its dialog was seen. What it says of
// the questions that are not shown yet goes into that dialog's prompt.
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

// ofWork says whether the dialog is one of those that are asked in a turn.
func ofWork(d *agent.Dialog) bool {
	switch d.Type {
	case agent.PromptPermission, agent.PromptPlan, agent.PromptQuestion, agent.PromptForm:
		return d.Subtype == "" && !d.AfterTurn
	}
	return false
}

// blankHolds is how long the screen may show nothing after a dialog that comes
// before the first composer, while the next one is made.
const blankHolds = 500 * time.Millisecond

// leftBlank: what was asked at the start has gone, and nothing came in its
// place: the agent starts up, maybe once more.
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

// gone: a prompt's dialog was on the screen, and now the composer is.
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
		// A dialog is held back while a person types; one that never comes was
		// answered before it was drawn.
		return !m.Screen.Bare.IsZero() && f.due(agent.MoveAnswer, agent.SourceScreen, latest(m.Screen.Bare, m.Screen.Changed, m.Changed, r.Opened), silence)
	})
}

// retries follows the line that tells of another attempt.
func (f *Fold) retries(r *agent.Reading) {
	m := &f.m
	if m.Turn.Phase != running {
		return
	}
	switch {
	case r.Retry != nil:
		m.Activity = r.Retry
	case m.Activity != nil && m.Activity.Kind == agent.Retrying:
		m.Activity = &agent.Activity{Kind: agent.Thinking}
	}
}
