package detect

import (
	"cmp"
	"slices"
	"strings"

	"berth/agent"
	"berth/api"
)

// current is the prompt on the screen, or else the one that was opened first; nil without one.
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

// asked opens a prompt, or completes the one that was seen before the report.
func (f *Fold) asked(fact *agent.Fact) {
	m := &f.m
	if fact.Request == nil || !f.may(agent.MoveAsk, fact.Source) {
		return
	}
	if m.Turn.Phase == "" && fact.Hook == "" && f.overBy(fact) {
		return // a late report: the prompt ended with its turn
	}
	fact = f.explained(f.completed(f.joined(f.named(fact))))
	dialog, how := f.dialog(), agent.NoMatch
	if dialog != nil && !f.spent() {
		how = f.driver.Match(dialog, fact.Request)
	}
	if m.ended(fact.Turn) && !m.inBackground(fact.Agent) && how == agent.NoMatch && fact.Hook == "" {
		return // the turn is over, and no hook waits for the answer
	}
	asksAnew := fact.Request.Type == agent.PromptForm && (fact.Hook != "" || fact.Released) // each such hook is a form of its own, maybe another server's
	for _, r := range m.Requests {
		if asksAnew {
			break
		}
		same := r.Agent == fact.Agent && r.Tool == fact.Tool && r.Input == canonical(fact.Input) && r.Prompt.Type == fact.Request.Type &&
			agent.Value(r.Prompt.Agent) == agent.Value(fact.Request.Agent) && sameForm(r.Prompt, fact.Request)
		switch {
		case r.Told && same && !f.ofAnother(r, fact) && r.Turn == fact.Turn && r.Over == nil && canonical(r.Raw) == canonical(fact.Request.Raw) && r.says(fact.Request):
			f.wait(r, fact) // reported by two hooks
			return
		case r.guessed() && same && reportsMore(fact.Request, r.Prompt):
			f.renew(r)
			f.join(r, fact)
			r.Joined = [2]string{} // the digest from before didn't cover that
			f.result.Opened = append(f.result.Opened, r.Prompt.Clone())
			return
		case r.guessed() && same, r.seenOnly() && r.Prompt.OnScreen && how == agent.WholeMatch && !f.isReported(dialog) && !reportsMore(fact.Request, r.Prompt) && !f.namesElse(r.Prompt, fact.Request, dialog):
			f.join(r, fact)
			return
		case r.seenOnly() && r.Prompt.OnScreen && (how == agent.PartMatch || how == agent.AlikeMatch) && !dialog.Cut && fact.Hook == "":
			if f.vouch(r, fact.Call, fact.Request); !f.drawsElse(dialog, fact.Request) {
				f.learnUndrawn(r, fact.Request)
			}
			return // the dialog is a prompt of its own: see asItIs
		}
	}
	if (how == agent.AlikeMatch || how == agent.PartMatch) && fact.Hook != "" { // the report says what the ambiguous dialog asks, and takes the answer
		f.drop("superseded", why{Tier: fact.Source.Tier(), Cause: fact.Cause}, false, func(r *request) bool { return r.seenOnly() && r.Prompt.OnScreen })
	}
	if fact.Agent == "" && m.Inferred && m.endedLast(fact.Turn) { // its hook waits or its dialog is there, so the turn isn't over
		m.Ended = m.Ended[:len(m.Ended)-1]
		calls := m.Calls // that were reported since
		m.Calls = nil
		f.start(fact.Turn, fact.Source, fact.Cause, fact.Evidence)
		m.Calls = calls
	}
	if m.Turn.Phase == "" && !m.ended(fact.Turn) {
		f.start(fact.Turn, fact.Source, fact.Cause, fact.Evidence)
	}
	r := f.open(fact.Request.Clone(), fact, true)
	f.supersede(r, func(o *request) bool { return o.guessed() && !o.Prompt.OnScreen && o.Prompt.Type == r.Prompt.Type })
}

// says reports whether the prompt shows all of the text of another report. What a call explains about
// its permission is in no hook's input, so two reports of the same input can be about different folders.
func (r *request) says(told *agent.Request) bool {
	return strings.Contains(agent.Value(r.Prompt.Text), agent.Value(told.Text))
}

// sameForm reports whether two forms are equal, and of one server. Prompts of other types are compared by input.
func sameForm(p, told *agent.Request) bool {
	same := agent.Value(p.Title) == agent.Value(told.Title) && agent.Value(p.Text) == agent.Value(told.Text)
	return told.Type != agent.PromptForm || same && canonical(p.Schema) == canonical(told.Schema)
}

// isReported reports whether the dialog already belongs to a reported prompt.
func (f *Fold) isReported(d *agent.Dialog) bool {
	of, how := f.asking(d)
	return of != nil && of.Told && how == agent.WholeMatch
}

// supersede closes the prompts that turned out to be prompt by: what they showed isn't what is
// asked.
func (f *Fold) supersede(by *request, over func(*request) bool) {
	f.drop("superseded", by.Why, false, func(r *request) bool { return r != by && over(r) })
}

// named completes the fact with the call that it is about, for agents that don't report that.
func (f *Fold) named(fact *agent.Fact) *agent.Fact {
	namer, ok := f.driver.(agent.CallNamer)
	if !ok || fact.Tool != "" {
		return fact
	}
	chooser, chooses := f.driver.(agent.CallChooser)
	whole, found, most := *fact, (*call)(nil), -1
	for i := len(f.m.Calls) - 1; i >= 0; i-- {
		c := &f.m.Calls[i]
		var about agent.Fact
		if c.name(&about); c.Agent != fact.Agent {
			continue
		}
		p, like := namer.Names(fact, &about), 0
		if p != nil && chooses {
			like = chooser.Likeness(fact, &about)
		}
		if p != nil && like > most {
			found, most = c, like
			whole.Request, whole.Tool, whole.Call, whole.Input = p, c.Tool, c.ID, about.Input
		}
	}
	if found != nil {
		if found.Used = ""; canonical(whole.Request.Raw) != found.Input {
			found.Used = string(whole.Request.Raw)
		}
		return &whole
	}
	if p := fact.Request; p.Tool != nil {
		whole.Tool = *p.Tool
	}
	return &whole
}

// joined returns the fact with what only its call has, for agents that name that call. The call asks the
// same from then on. Any process of the session can report that too, so two reports that differ are two calls.
func (f *Fold) joined(fact *agent.Fact) *agent.Fact {
	joiner, ok := f.driver.(agent.CallJoiner)
	if !ok || fact.Call == "" {
		return fact
	}
	whole, known := *fact, false
	var other *call
	f.eachCall(func(c *call) {
		if c.ID != fact.Call || c.Asks != nil && agent.Value(c.Asks.Tool) != agent.Value(fact.Request.Tool) {
			return
		}
		whole.Request = joiner.WithCall(fact.Request, []byte(c.Input))
		if c.Joined && f.asksElse(c, &whole) {
			copied := *c
			other = &copied
			return
		}
		known, c.Joined = true, true
		f.keepAsks(c, &whole)
	})
	if known {
		return &whole
	}
	if other == nil { // the log has reported no such call, or its end, and that of an equal call which is kept in its place
		other = &call{ID: fact.Call, Tool: fact.Tool, Agent: fact.Agent, AgentType: fact.AgentType, Input: canonical(fact.Input), Since: f.now, Joined: true}
	}
	other.Asked, other.Allowed = false, false
	f.keepAsks(other, &whole)
	f.addCall(*other)
	return &whole
}

// join puts the agent's report into a prompt that showed the same. Its id, its options and its
// place on the screen stay.
func (f *Fold) join(r *request, fact *agent.Fact) {
	old := r.Prompt
	p := fact.Request.Clone()
	unguess(p)
	p.ID, p.Since, p.OnScreen, p.Ready = old.ID, old.Since, old.OnScreen, old.Ready
	if p.Type == agent.PromptPermission && p.Text == nil { // the text beside the subject in the dialog stays shown
		p.Text = old.Text
	}
	if !old.OptionsFallback && len(old.Options) > 0 {
		p.Options, p.OptionsFallback = old.Options, false
	}
	r.Prompt, r.Told = p, true
	r.Turn, r.Agent, r.Tool, r.Input, r.At = fact.Turn, fact.Agent, fact.Tool, canonical(fact.Input), fact.At
	r.Uncalled = r.Uncalled || f.uncalled(p)
	f.wait(r, fact)
	f.nameCall(r)
	if d := f.dialog(); d != nil && f.shows(d, r) != agent.NoMatch {
		f.driver.Fill(p, d)
		p.OnScreen, r.Seen = true, true
	}
	r.keep()
	unread := func(q agent.Question) bool { return q.Text == "" } // its page wasn't shown
	if !slices.ContainsFunc(old.Questions, unread) {
		r.Joined = [2]string{old.Digest, p.Digest}
	}
}

// unguess removes a driver's guess of the options: a number answers the options that were shown,
// and the dialog may have others.
func unguess(p *agent.Request) {
	if p.OptionsFallback && (p.Type == agent.PromptPermission || p.Type == agent.PromptPlan) {
		p.Options = []string{}
	}
}

// keep signs the prompt, and stores what the prompt's JSON leaves out.
func (r *request) keep() {
	r.Prompt.Sign()
	r.Full, r.Lines, r.Raw, r.Hints = r.Prompt.FullInput, r.Prompt.Lines, r.Prompt.Raw, nil
	for _, q := range r.Prompt.Questions {
		r.Hints = append(r.Hints, q.Hint)
	}
}

// restore gives the prompt back what its JSON leaves out.
func (r *request) restore() {
	if string(r.Raw) == "null" { // no input, as JSON has it
		r.Raw = nil
	}
	r.Prompt.FullInput, r.Prompt.Lines, r.Prompt.Raw = r.Full, r.Lines, r.Raw
	for i := range min(len(r.Hints), len(r.Prompt.Questions)) {
		r.Prompt.Questions[i].Hint = r.Hints[i]
	}
}

// wait sets the hook that gets the answer: the first one that waits. A later hook with the same
// report may be forged.
func (f *Fold) wait(r *request, fact *agent.Fact) {
	if fact.Released && r.Prompt.Type == agent.PromptForm {
		r.ReleasedAt = f.now
	}
	if fact.Hook != "" && r.Hook == "" {
		f.m.Hooked = true
		r.Hook, r.Waits, r.Prompt.Channel = fact.Hook, true, agent.ChannelHook
	}
}

// hidden reports whether the prompt's hook keeps its dialog off the screen. The agent is busy meanwhile, and shows others.
func (f *Fold) hidden(r *request) bool {
	w, ok := f.driver.(agent.HookHidesDialog)
	return ok && r.Hook != "" && w.HidesDialog(r.Prompt)
}

// requestsKept bounds the open prompts. At the limit the oldest one that isn't on the screen is
// closed; its hook is released, so that the agent draws its dialog.
const requestsKept = 64

// open adds a prompt.
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
	p.ID, p.Since = f.o.PromptID(m.Opened, told), api.At(f.now)
	r := &request{
		Number: m.Opened, Prompt: p, Opened: f.now, Told: told, Turn: fact.Turn, Agent: fact.Agent, Tool: fact.Tool,
		Call: fact.Call, Input: canonical(fact.Input), At: fact.At, By: fact.Source,
		Why: why{Tier: fact.Source.Tier(), Cause: fact.Cause, Evidence: fact.Evidence},
	}
	r.Uncalled = told && f.uncalled(p)
	f.wait(r, fact)
	f.nameCall(r)
	m.Why = r.Why
	m.Requests = append(m.Requests, r)
	d := f.dialog()
	if d != nil && r.seenOnly() {
		r.drawn(d)
		if f.alike(d, r) && m.TypedAt.After(m.Screen.Shown) { // a key was pressed at the dialog before it had a prompt
			r.Typed = m.TypedAt
		}
	}
	if d != nil && !f.spent() {
		if of, how := f.asking(d); of == r {
			f.show(r, d, how)
		}
	}
	switch {
	case p.OnScreen:
		f.nameOpen(p, r, d)
	case told && fact.Source == agent.SourceHook && fact.Hook == "": // keys will answer it
		f.nameOpen(p, r, nil)
	}
	r.keep()
	f.contest()
	f.result.Opened = append(f.result.Opened, p.Clone())
	return r
}

// closeAll closes the prompts that over returns true for. If there are any, they are the reason for
// the next transition.
func (f *Fold) closeAll(how string, s agent.Source, cause string, stopped bool, over func(*request) bool) {
	if f.drop(how, why{Tier: s.Tier(), Cause: cause}, stopped, over) {
		f.mark(s, cause, "")
	}
}

// drop closes the prompts that over returns true for, for the reason w. stopped: the turn stops
// with them.
//
// Any process of the session can report that a prompt was answered, and a true report may be ahead
// of the screen. So a prompt whose dialog is on the screen is closed when the dialog is gone.
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
	if r.Place > 0 {
		f.m.Screen.Placed = placed{r.Place, f.now}
	}
	if !r.Taken.IsZero() {
		f.m.Screen.Given = f.now
	}
	f.dialogOver(r, how)
	f.lose(r, how, w)
	f.result.Closed = append(f.result.Closed, Resolution{Request: r.Prompt.Clone(), How: how, Tier: w.Tier, Cause: w.Cause, Stopped: stopped})
}

// callsKept bounds the pending tool calls. One that never ends is forgotten.
const callsKept = 64

func (f *Fold) toolStarted(fact *agent.Fact) {
	m := &f.m
	f.explains(fact)
	defer f.nameLogged(fact)
	for i := range m.Calls {
		if c := &m.Calls[i]; c.ID == fact.Call && c.ID != "" && !c.isElse(fact) && !f.asksElse(c, fact) {
			if fact.Folder != "" && fact.Source == agent.SourceHook && !c.Hooked { // the log was written before the commands before it ran
				c.Input = canonical(fact.Input)
			}
			c.Hooked = c.Hooked || fact.Source == agent.SourceHook
			if c.Asks == nil {
				f.keepAsks(c, fact)
			}
			if fact.Source == agent.SourceLog && c.Logged == "" {
				c.Logged = canonical(fact.Input)
				f.keepWords(c.Logged)
			}
			return // another source has reported it
		}
	}
	f.wentOn(fact)
	f.nextTurn(fact)
	c := call{
		ID: fact.Call, Tool: fact.Tool, Agent: fact.Agent, AgentType: fact.AgentType, Input: canonical(fact.Input),
		Since: f.now, Hooked: fact.Source == agent.SourceHook, Moves: fact.Folder != "",
	}
	if fact.Source == agent.SourceLog {
		c.Logged = c.Input
		f.keepWords(c.Logged)
	}
	f.keepAsks(&c, fact)
	f.addCall(c)
	f.learn(&c)
	if fact.Agent != "" || m.ended(fact.Turn) && m.Turn.Phase != ending {
		return
	}
	if m.Turn.Phase == ending && fact.Source == agent.SourceHook {
		m.Turn.Phase = running // another stop hook made the agent continue
	}
	if m.Turn.Phase != "" {
		m.Activity = agent.Uses(f.driver, fact.Tool, fact.Input)
	}
}

func (f *Fold) addCall(c call) {
	m := &f.m
	if m.Calls = append(m.Calls, c); len(m.Calls) > callsKept {
		f.unasked(m.Calls[0])
		m.Calls = append([]call(nil), m.Calls[1:]...)
	}
}

// isElse reports whether the fact says something else of the call with its id than was reported before: another
// tool or agent, or the same source another input. Any process of the session can report a call by that id before
// the agent does, by a hook or in the log, so both count.
func (c *call) isElse(fact *agent.Fact) bool {
	input := canonical(fact.Input)
	switch {
	case c.Tool != fact.Tool || c.Agent != fact.Agent:
		return true
	case fact.Source == agent.SourceLog:
		return c.Logged != "" && c.Logged != input
	}
	return fact.Source == agent.SourceHook && c.Hooked && (c.Logged == "" || c.Logged != c.Input) && c.Input != input
}

// toolEnded closes the prompts about the call, by its id or its input. The end of a step closes all
// prompts of that step.
func (f *Fold) toolEnded(fact *agent.Fact) {
	m := &f.m
	input := canonical(fact.Input)
	step := fact.Kind == agent.StepEnded
	kept := m.Calls[:0:0]
	found := false
	for _, c := range m.Calls {
		over := step && c.Agent == fact.Agent || !step && fact.Call != "" && c.ID == fact.Call
		if !step && fact.Call == "" && !found { // calls without ids are compared by tool and input
			over = c.Tool == fact.Tool && c.Agent == fact.Agent && c.Input == input
			found = over
		}
		if !over {
			kept = append(kept, c)
		} else {
			f.unasked(c)
		}
	}
	m.Calls = kept
	for _, r := range m.Requests {
		if !step && r.Hook != "" && !r.Seen && r.Call == fact.Call { // it may have been the equal call of another prompt, which was answered
			r.Call = cmp.Or(f.callOf(r, true), r.Call)
		}
	}
	if f.may(agent.MoveAnswer, fact.Source) {
		f.closeAll("answered", fact.Source, fact.Cause, false, func(r *request) bool {
			switch {
			case step: // a prompt that no event reported may be newer than this one, and a form whose hook waits a background subagent's
				return r.Told && !(r.Prompt.Type == agent.PromptForm && r.Hook != "") && r.Agent == fact.Agent && r.Turn == fact.Turn && !r.since(fact)
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

// since reports whether the prompt came after the step, by the clock of the step's source: a hook
// may be late.
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
				return // text from before the call may arrive after it
			}
		}
	}
	m.Activity = fact.Activity
}
