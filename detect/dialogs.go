package detect

import (
	"strings"
	"time"

	"berth/agent"
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

// dialogKey tells one dialog from another. What is chosen or ticked in it does
// not make it another.
func dialogKey(d *agent.Dialog) string {
	if d == nil {
		return ""
	}
	if d.Key != "" {
		return d.Key
	}
	if d.Type == agent.PromptQuestion {
		return string(d.Type) + "\x00" + strings.Join(d.Tabs, "\x00") // its pages are one prompt
	}
	body := d.Body
	if d.Type == agent.PromptNotice || d.Type == agent.PromptForm || d.Subtype == agent.SubtypeOAuthLogin {
		body = "" // what is typed into it, or goes on elsewhere, changes it
	}
	return strings.Join([]string{string(d.Type), d.Subtype, d.Title, body}, "\x00")
}

// match puts the dialog on the screen and the prompts together.
func (f *Fold) match(d *agent.Dialog) {
	m := &f.m
	var shown *request
	if d != nil && !f.spent() {
		shown = f.asking(d)
	}
	for _, r := range m.Requests {
		if r != shown {
			r.Prompt.OnScreen = false
		}
	}
	if shown != nil {
		f.show(shown, d)
	}
}

// asking is whose dialog it is: of several that it may be, the prompt that most is
// seen of, else the one that is on the screen; nil when it is nobody's.
func (f *Fold) asking(d *agent.Dialog) (of *request) {
	var most likeness
	for _, r := range f.m.Requests {
		if !f.driver.Shows(d, r.Prompt) {
			continue
		}
		l := like(d, r.Prompt)
		if of == nil || most.less(l) || !l.less(most) && r.Prompt.OnScreen && !of.Prompt.OnScreen {
			of, most = r, l
		}
	}
	return of
}

// Asks says whether the dialog is that of the prompt with this id.
func (f *Fold) Asks(d *agent.Dialog, id string) bool {
	r := f.asking(d)
	return r != nil && r.Prompt.ID == id
}

// others says that the dialog is rather that of another prompt that is on the screen.
func (f *Fold) others(d *agent.Dialog, r *request) bool {
	mine := like(d, r.Prompt)
	for _, o := range f.m.Requests {
		if o != r && o.Prompt.OnScreen && f.driver.Shows(d, o.Prompt) && mine.less(like(d, o.Prompt)) {
			return true
		}
	}
	return false
}

// show: the dialog is this prompt's. A prompt that was on the screen before is
// over then, unless this one was put in front of it: of calls side by side the
// first may ask after the second.
func (f *Fold) show(r *request, d *agent.Dialog) {
	f.driver.Fill(r.Prompt, d)
	r.Prompt.OnScreen, r.Seen, r.Lines, r.Place = true, true, r.Prompt.Lines, d.Place
	f.closeAll("gone", agent.SourceScreen, "screen:dialog", func(o *request) bool {
		return o != r && o.Seen && (d.Place == 0 || o.Place <= d.Place)
	})
}

// seen: a dialog is on the screen that no source told of.
func (f *Fold) seen() {
	m := &f.m
	d := f.dialog()
	if d == nil || d.Partial || !f.may(agent.MoveAsk, agent.SourceScreen) {
		return
	}
	if !m.Screen.Spent.IsZero() && !f.due(agent.MoveAsk, agent.SourceScreen, m.Screen.Spent, spentHolds) {
		return
	}
	for _, r := range m.Requests {
		if r.Prompt.OnScreen {
			return
		}
	}
	if !f.due(agent.MoveAsk, agent.SourceScreen, m.Screen.Shown, f.after(agent.MoveAsk, agent.SourceScreen)) {
		return
	}
	if r := f.asking(d); r != nil { // it was told while what was there before it was only not yet taken away
		f.show(r, d)
		return
	}
	fact := agent.Fact{
		Source: agent.SourceScreen, Cause: "screen:" + string(d.Type), Evidence: d.Title, Turn: m.Turn.ID, Tool: d.Tool,
	}
	for _, r := range m.Requests { // the live file's word for it, which did not say what it is
		if !r.Told && r.Tool == "" && r.Prompt.Title == nil {
			p := f.driver.FromDialog(d)
			p.ID, p.Since = r.Prompt.ID, r.Prompt.Since
			r.Prompt, r.Tool = p, d.Tool
			f.show(r, d)
			return
		}
	}
	if m.Turn.Phase == "" && ofWork(d) {
		f.start("", agent.SourceScreen, fact.Cause, fact.Evidence)
		fact.Turn = ""
	}
	p := f.questioned(d, &fact)
	if p == nil {
		p = f.driver.FromDialog(d)
	}
	f.open(p, &fact, false).AfterTurn = d.AfterTurn
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
	if p.Type != d.Type || !f.driver.Shows(d, p) {
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
		r.Full, r.Lines = p.FullInput, p.Lines
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
	f.closeAll("gone", agent.SourceScreen, "screen:nothing", func(r *request) bool { return r.Seen && !r.Told })
}

// gone: a prompt's dialog was on the screen, and now the composer is.
func (f *Fold) gone() {
	m := &f.m
	f.leftBlank()
	if len(m.Requests) == 0 || m.Screen.Gone.IsZero() || !f.may(agent.MoveAnswer, agent.SourceScreen) {
		return
	}
	after := f.after(agent.MoveAnswer, agent.SourceScreen)
	f.closeAll("gone", agent.SourceScreen, "screen:composer", func(r *request) bool {
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
