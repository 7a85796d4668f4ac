package detect

import (
	"bytes"
	"encoding/json"

	"berth/agent"
	"berth/api"
)

// current is the prompt on the screen, else the one that was opened first; nil
// when there is none.
func (f *Fold) current() *request {
	m := &f.m
	for _, r := range m.Requests {
		if r.Prompt.OnScreen {
			return r
		}
	}
	if len(m.Requests) > 0 {
		return m.Requests[0]
	}
	return nil
}

// asked opens a prompt, or fills in the one that was seen before it was told.
func (f *Fold) asked(fact *agent.Fact) {
	m := &f.m
	if fact.Request == nil || !f.may(agent.MoveAsk, fact.Source) {
		return
	}
	if m.Turn.Phase == "" && fact.Hook == "" && f.overBy(fact) {
		return // late: what it asked is over, with its turn
	}
	fact = f.named(fact)
	dialog, how := f.dialog(), agent.NoMatch
	if dialog != nil && !f.spent() {
		how = f.driver.Match(dialog, fact.Request)
	}
	if m.ended(fact.Turn) && !m.Background[fact.Agent] && how == agent.NoMatch && fact.Hook == "" {
		return // of a turn that is over: nothing waits for its answer
	}
	for _, r := range m.Requests {
		same := r.Agent == fact.Agent && r.Tool == fact.Tool && r.Input == canonical(fact.Input) && r.Prompt.Type == fact.Request.Type &&
			agent.Value(r.Prompt.Agent) == agent.Value(fact.Request.Agent) && sameForm(r.Prompt, fact.Request)
		switch {
		case r.Told && same && r.Turn == fact.Turn && r.Over == nil && canonical(r.Raw) == canonical(fact.Request.Raw):
			f.wait(r, fact) // reported by two hooks
			return
		case r.guessed() && same, r.seenOnly() && r.Prompt.OnScreen && how == agent.WholeMatch && !f.tellsOf(dialog) && !tellsMore(fact.Request, r.Prompt):
			f.tell(r, fact)
			return
		case r.seenOnly() && r.Prompt.OnScreen && (how == agent.PartMatch || how == agent.AlikeMatch) && !dialog.Cut && fact.Hook == "":
			r.Vouched = true
			return // it is asked as the dialog has it: see asItIs
		}
	}
	if how == agent.AlikeMatch && fact.Hook != "" { // what its dialog may be read as is told now
		f.drop("superseded", why{Tier: fact.Source.Tier(), Cause: fact.Cause}, false, func(r *request) bool { return r.seenOnly() && r.Prompt.OnScreen })
	}
	if m.Turn.Phase == "" && !m.ended(fact.Turn) {
		f.start(fact.Turn, fact.Source, fact.Cause, fact.Evidence)
	}
	r := f.open(fact.Request.Clone(), fact, true)
	f.supersede(r, func(o *request) bool { return o.guessed() && !o.Prompt.OnScreen && o.Prompt.Type == r.Prompt.Type })
}

// tellsMore says that a call has fields that its dialog does not draw, so that they were not
// shown with the prompt.
func tellsMore(told, seen *agent.Request) bool {
	return told.Type == agent.PromptPermission && told.Text != nil && (seen.Text == nil || *seen.Text != *told.Text)
}

// sameForm says whether two forms are equal. Prompts of other types are compared by input.
func sameForm(p, told *agent.Request) bool {
	text := func(p *agent.Request) string {
		if p.Text == nil {
			return ""
		}
		return *p.Text
	}
	return told.Type != agent.PromptForm || text(p) == text(told) && canonical(p.Schema) == canonical(told.Schema)
}

// tellsOf says whether a prompt that was told is the dialog's already.
func (f *Fold) tellsOf(d *agent.Dialog) bool {
	of, how := f.asking(d)
	return of != nil && of.Told && how == agent.WholeMatch
}

// supersede closes the prompts that have turned out to be another one: what they
// showed is not what is asked.
func (f *Fold) supersede(by *request, over func(*request) bool) {
	f.drop("superseded", by.Why, false, func(r *request) bool { return r != by && over(r) })
}

// named is the fact with the call that it is about, for agents that do not say
// which.
func (f *Fold) named(fact *agent.Fact) *agent.Fact {
	namer, ok := f.driver.(agent.CallNamer)
	if !ok || fact.Tool != "" {
		return fact
	}
	whole := *fact
	for i := len(f.m.Calls) - 1; i >= 0; i-- {
		c := f.m.Calls[i]
		call := agent.Fact{Tool: c.Tool, Call: c.ID, Agent: c.Agent, AgentType: c.AgentType, Input: []byte(c.Input)}
		if c.Agent != fact.Agent {
			continue
		}
		if p := namer.Names(fact, &call); p != nil {
			whole.Request, whole.Tool, whole.Call, whole.Input = p, c.Tool, c.ID, call.Input
			return &whole
		}
	}
	if p := fact.Request; p.Tool != nil {
		whole.Tool = *p.Tool
	}
	return &whole
}

// tell puts what the agent says of a prompt into one that showed the same. Its id,
// its options and its place on the screen stay.
func (f *Fold) tell(r *request, fact *agent.Fact) {
	old := r.Prompt
	p := fact.Request.Clone()
	unguess(p)
	p.ID, p.Since, p.OnScreen, p.Ready = old.ID, old.Since, old.OnScreen, old.Ready
	if p.Type == agent.PromptPermission && p.Text == nil { // what the dialog says beside its subject stays shown
		p.Text = old.Text
	}
	if !old.OptionsFallback && len(old.Options) > 0 {
		p.Options, p.OptionsFallback = old.Options, false
	}
	r.Prompt, r.Told = p, true
	r.Turn, r.Agent, r.Tool, r.Input, r.At = fact.Turn, fact.Agent, fact.Tool, canonical(fact.Input), fact.At
	f.wait(r, fact)
	f.nameCall(r)
	if d := f.dialog(); d != nil && f.shows(d, r) != agent.NoMatch {
		f.driver.Fill(p, d)
		p.OnScreen, r.Seen = true, true
	}
	r.keep()
	r.Joined = [2]string{old.Digest, p.Digest}
}

// unguess takes a driver's guess of the options away: a number is an answer to the options that
// were shown, and the dialog may offer others.
func unguess(p *agent.Request) {
	if p.OptionsFallback && (p.Type == agent.PromptPermission || p.Type == agent.PromptPlan) {
		p.Options = []string{}
	}
}

// keep signs the prompt, and keeps of it what its JSON leaves out.
func (r *request) keep() {
	r.Prompt.Sign()
	r.Full, r.Lines, r.Raw = r.Prompt.FullInput, r.Prompt.Lines, r.Prompt.Raw
}

// wait: the first hook that waits is the one that is answered. A later one that says
// the same may be anybody's.
func (f *Fold) wait(r *request, fact *agent.Fact) {
	if fact.Hook != "" && r.Hook == "" {
		r.Hook, r.Waits, r.Prompt.Channel = fact.Hook, true, agent.ChannelHook
	}
}

// requestsKept bounds the prompts that are open at once. Of more the oldest goes
// that is not on the screen; what asked by it is let go, and its dialog drawn.
const requestsKept = 64

// open puts a prompt on the list.
func (f *Fold) open(p *agent.Request, fact *agent.Fact, told bool) *request {
	m := &f.m
	if len(m.Requests) >= requestsKept {
		oldest := m.Requests[0]
		if oldest.Prompt.OnScreen {
			oldest = m.Requests[1]
		}
		f.drop("too_many", why{Tier: fact.Source.Tier(), Cause: fact.Cause}, false, func(r *request) bool { return r == oldest })
	}
	m.Opened++
	unguess(p)
	p.ID, p.Since = f.o.PromptID(m.Opened), api.At(f.now)
	r := &request{
		Number: m.Opened, Prompt: p, Opened: f.now, Told: told, Turn: fact.Turn, Agent: fact.Agent, Tool: fact.Tool,
		Call: fact.Call, Input: canonical(fact.Input), At: fact.At, By: fact.Source,
		Why: why{Tier: fact.Source.Tier(), Cause: fact.Cause, Evidence: fact.Evidence},
	}
	f.wait(r, fact)
	f.nameCall(r)
	m.Why = r.Why
	m.Requests = append(m.Requests, r)
	d := f.dialog()
	if d != nil && r.seenOnly() {
		r.drawn(d)
	}
	if d != nil && !f.spent() {
		if of, how := f.asking(d); of == r {
			f.show(r, d, how)
		}
	}
	r.keep()
	f.contest()
	f.result.Opened = append(f.result.Opened, p.Clone())
	return r
}

// nameCall finds the tool call the prompt is about, so that its end can name
// it even if the answer changed its input.
func (f *Fold) nameCall(r *request) {
	for _, c := range f.m.Calls {
		if r.Call == "" && c.Tool == r.Tool && c.Agent == r.Agent && c.Input == r.Input {
			r.Call = c.ID
		}
	}
}

// closeAll closes the prompts for which over holds. It is what the state will
// be owed to, if any does.
func (f *Fold) closeAll(how string, s agent.Source, cause string, stopped bool, over func(*request) bool) {
	if f.drop(how, why{Tier: s.Tier(), Cause: cause}, stopped, over) {
		f.mark(s, cause, "")
	}
}

// drop closes the prompts for which over holds, on the strength of w. stopped: the
// work stops with them.
//
// Any process of the session can say that something was answered, and an honest word
// for it may be ahead of the screen. So a prompt whose dialog is there is closed when
// that has gone.
func (f *Fold) drop(how string, w why, stopped bool, over func(*request) bool) bool {
	kept := f.m.Requests[:0:0]
	for _, r := range f.m.Requests {
		switch {
		case !over(r):
			kept = append(kept, r)
		case w.Tier != agent.TierScreen && how != "superseded" && how != "too_many" && f.up(r):
			kept = append(kept, r)
			f.ends(r, how, w, stopped)
		default:
			f.close(r, how, w, stopped)
		}
	}
	closed := len(kept) < len(f.m.Requests)
	f.m.Requests = kept
	return closed
}

func (f *Fold) close(r *request, how string, w why, stopped bool) {
	f.m.ClosedAt = f.now
	if !r.Taken.IsZero() {
		f.m.Screen.Given = f.now
	}
	f.lose(r, how, w)
	f.result.Closed = append(f.result.Closed, Resolution{Request: r.Prompt.Clone(), How: how, Tier: w.Tier, Cause: w.Cause, Stopped: stopped})
}

// answered: the agent says that something of that type was answered.
func (f *Fold) answered(fact *agent.Fact) {
	if fact.Request == nil || !f.may(agent.MoveAnswer, fact.Source) {
		return
	}
	f.closeAll("answered", fact.Source, fact.Cause, false, func(r *request) bool {
		return r.Prompt.Type == fact.Request.Type && r.Agent == fact.Agent
	})
}

// hookGone: nobody waits any more for the answer by hook. The dialog, where
// there is one, stays.
//
// A dialog whose hook handed an answer to the agent is answered, and takes a moment to go.
func (f *Fold) hookGone(fact *agent.Fact) {
	for _, r := range f.m.Requests {
		if r.Hook != fact.Hook || fact.Hook == "" {
			continue
		}
		r.Hook, r.Prompt.Channel = "", agent.ChannelKeys
		r.Given = fact.Cause == agent.CauseDelivered
		r.Waits = !r.Given
		switch d := f.dialog(); {
		case r.Given:
			r.Taken, f.m.Screen.Given = f.now, f.now
		case r.Prompt.OnScreen && d != nil && f.shows(d, r) == agent.AlikeMatch:
			f.m.Screen.Given = f.now
		}
	}
	f.closeAll("ended", fact.Source, fact.Cause, false, func(r *request) bool {
		return r.Told && r.Hook == "" && r.Waits && !r.Seen && f.m.ended(r.Turn) && !f.m.Background[r.Agent]
	})
}

// Calls that are kept at most; one that never comes back is forgotten.
const callsKept = 64

func (f *Fold) toolStarted(fact *agent.Fact) {
	m := &f.m
	for i := range m.Calls {
		if c := &m.Calls[i]; c.ID == fact.Call && c.ID != "" {
			c.Hooked = c.Hooked || fact.Source == agent.SourceHook
			return // told by another source
		}
	}
	f.wentOn(fact)
	c := call{
		ID: fact.Call, Tool: fact.Tool, Agent: fact.Agent, AgentType: fact.AgentType, Input: canonical(fact.Input),
		Asks: fact.Request.Clone(), Since: f.now, Hooked: fact.Source == agent.SourceHook,
	}
	if c.Asks != nil {
		c.Full = c.Asks.FullInput
	}
	if m.Calls = append(m.Calls, c); len(m.Calls) > callsKept {
		m.Calls = append([]call(nil), m.Calls[1:]...)
	}
	f.learn(&c)
	if fact.Agent != "" || m.ended(fact.Turn) && m.Turn.Phase != ending {
		return
	}
	if m.Turn.Phase == ending && fact.Source == agent.SourceHook {
		m.Turn.Phase = running // somebody's stop hook made it go on
	}
	if m.Turn.Phase != "" {
		m.Activity = &agent.Activity{Kind: agent.UsingTool, Tool: fact.Tool}
	}
}

// toolEnded closes what was asked about the call, by its id or by its input;
// the end of a step closes all that step asked.
func (f *Fold) toolEnded(fact *agent.Fact) {
	m := &f.m
	input := canonical(fact.Input)
	step := fact.Kind == agent.StepEnded
	kept := m.Calls[:0:0]
	found := false
	for _, c := range m.Calls {
		over := step && c.Agent == fact.Agent || !step && fact.Call != "" && c.ID == fact.Call
		if !step && fact.Call == "" && !found { // calls without ids come back by what they were
			over = c.Tool == fact.Tool && c.Agent == fact.Agent && c.Input == input
			found = over
		}
		if !over {
			kept = append(kept, c)
		}
	}
	m.Calls = kept
	if f.may(agent.MoveAnswer, fact.Source) {
		f.closeAll("answered", fact.Source, fact.Cause, false, func(r *request) bool {
			switch {
			case step: // what no such event told of may have been asked after this one
				return r.Told && r.Agent == fact.Agent && r.Turn == fact.Turn && !r.since(fact)
			case r.Call != "" && fact.Call != "":
				return r.Call == fact.Call && r.Prompt.Type != agent.PromptForm
			}
			return fact.Tool != "" && r.Agent == fact.Agent && r.Tool == fact.Tool && r.Input == input
		})
	}
	if m.Turn.Phase == running && fact.Agent == "" {
		m.Activity = &agent.Activity{Kind: agent.Thinking}
	}
}

// since says that the prompt came up after the step, by the time that the step's
// source gives for it: a hook may be late.
func (r *request) since(step *agent.Fact) bool {
	opened := r.Opened
	if !r.At.IsZero() {
		opened = r.At
	}
	return !step.At.IsZero() && step.At.Before(opened)
}

func (f *Fold) acting(fact *agent.Fact) {
	m := &f.m
	if m.Turn.Phase != running || fact.Activity == nil || fact.Agent != "" || m.ended(fact.Turn) {
		return
	}
	if kind := fact.Activity.Kind; kind == agent.Responding || kind == agent.Thinking {
		for _, c := range m.Calls {
			if c.Agent == "" {
				return // what was said before the call arrives after it
			}
		}
	}
	m.Activity = fact.Activity
}

// canonical is the JSON with its keys in order and without blanks.
func canonical(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	if agent.Repeats(raw) {
		return string(raw) // which of two fields of a name holds is not known
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return string(raw)
	}
	out, err := json.Marshal(v)
	if err != nil {
		return string(raw)
	}
	return string(out)
}
