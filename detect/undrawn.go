package detect

import (
	"encoding/json"
	"slices"
	"strings"

	"berth/agent"
)

// withUndrawn returns the fact with what no dialog draws of its tool's input in its prompt.
func (f *Fold) withUndrawn(fact *agent.Fact) *agent.Fact {
	whole := *fact
	whole.Request = fact.Request.Clone()
	f.showUndrawn(whole.Request, whole.Request)
	return &whole
}

// reportsMore reports whether a call has fields that its dialog doesn't draw, so that the seen prompt
// didn't show them.
func reportsMore(told, seen *agent.Request) bool {
	return told.Type == agent.PromptPermission && told.Text != nil && (seen.Text == nil || ofKept(seen) != ofKept(told))
}

// namesElse reports whether the seen prompt's text names a call by what its dialog doesn't draw, and the reported call isn't that one.
func (f *Fold) namesElse(seen, told *agent.Request, d *agent.Dialog) bool {
	_, leavesOut := f.driver.(agent.UndrawnInputReader)
	return leavesOut && told.Type == agent.PromptPermission && told.Text == nil && ofKept(seen) != agent.Value(f.driver.FromDialog(d).Text)
}

// learnUndrawn adds that to a prompt that was seen before a hook reported it. The result is
// another prompt, because the seen one didn't show it.
func (f *Fold) learnUndrawn(r *request, reported *agent.Request) {
	more := r.Prompt.Clone()
	f.showUndrawn(more, reported)
	f.renewWith(r, more)
}

// renewWith gives a prompt the text and the input of a copy, and a new id with it. The same text changes nothing, unless the prompt was a part.
func (f *Fold) renewWith(r *request, more *agent.Request) {
	if agent.Value(more.Text) == agent.Value(r.Prompt.Text) && more.InPart() == r.Prompt.InPart() {
		return
	}
	f.renew(r)
	r.Prompt.Input, r.Prompt.Text, r.Prompt.FullInput, r.Prompt.InputBytes, r.Prompt.InputTruncated = more.Input, more.Text, more.FullInput, more.InputBytes, more.InputTruncated
	r.keep()
	f.result.Opened = append(f.result.Opened, r.Prompt.Clone())
}

// learnLogged adds what the dialog's call has beside it to a prompt that was only seen, when its call is logged, or the hook of
// another conversation reports it, after the prompt was opened. The dialog may be off the screen, or cut, at that moment: any
// process of the session can draw over it. So it is compared again when it is back. The result is another prompt, because the
// seen one didn't show it.
func (f *Fold) learnLogged() {
	d := f.dialog()
	for _, r := range f.m.Requests {
		if d == nil || d.Cut || !r.seenOnly() || !r.Prompt.OnScreen || r.Over != nil && !r.Over.Denied {
			continue
		}
		more := r.Prompt.Clone()
		f.addUndrawn(more, d)
		f.renewWith(r, more)
	}
}

// learnPast adds what dialogs don't draw of past calls to prompts that hooks reported and that only keys can answer. The result is another prompt.
func (f *Fold) learnPast() {
	d := f.dialog()
	for _, r := range f.m.Requests {
		if d == nil || !r.Told || r.Hook != "" || r.Given || !r.Prompt.OnScreen || r.Over != nil || r.Prompt.Type != agent.PromptPermission {
			continue
		}
		l, ok := f.comparesPast(d)
		if !ok {
			return
		}
		more := r.Prompt.Clone()
		f.addPast(more, d, f.toldUndrawn(l, r, d))
		f.renewWith(r, more)
	}
}

// A dialog doesn't draw all that a call does, such as its folder, so it may be about any call that is drawn like it. An agent
// may run one command in several folders. Any process of the session can report that such a call is over, and that the agent
// asks about another one. So a prompt that a key answers names each of these calls.

// orAlso names a call by what its dialog doesn't draw.
func orAlso(lines string) string {
	if lines == "" {
		return mayAlso + "that it draws whole, in the session's folder."
	}
	return mayAlso + "with\n" + lines
}

// drawnAlike returns the calls that prompt r's dialog may be about, each once. A call whose own hook waits isn't drawn.
func (f *Fold) drawnAlike(r *request, d *agent.Dialog) (all []lookalike) {
	m := &f.m
	if _, names := f.driver.(agent.CallNamer); names || r.Prompt.Type != agent.PromptPermission {
		return nil
	}
	for i, c := range slices.Concat(m.Calls, m.Unasked) {
		like := f.looksLike(d, &c)
		if like == nil || r.Tool != "" && agent.Value(c.Asks.Tool) != r.Tool { // a dialog may name no tool
			continue
		}
		one := lookalike{like.lines, like.whole, i >= len(m.Calls)}
		if slices.ContainsFunc(all, func(a lookalike) bool { return a.lines == one.lines }) ||
			slices.ContainsFunc(m.Requests, func(o *request) bool { return o != r && o.Hook != "" && f.isOf(o, &c) }) {
			continue
		}
		all = append(all, one)
	}
	if !m.Plain.IsZero() && !slices.ContainsFunc(all, func(a lookalike) bool { return a.lines == "" }) {
		all = append(all, lookalike{over: true})
	}
	return all
}

// unnamed returns the paragraphs of the calls that the prompt doesn't name yet.
func (f *Fold) unnamed(r *request, all []lookalike) (missing []string) {
	for _, a := range all {
		also := orAlso(a.lines)
		own := r.Told && a.lines == f.undrawn(r.Prompt) // the hook reported this call
		seen := !r.Told && says(r.Prompt, a.lines) && (a.lines != "" || len(all) == 1)
		switch {
		case own, seen, says(r.Prompt, also):
		case !r.Told && len(all) == 1: // no other call looks like the dialog
			missing = append(missing, a.lines)
		default:
			missing = append(missing, also)
		}
	}
	return missing
}

// mislaid reports whether the dialog may be about a call that the prompt doesn't name.
func (f *Fold) mislaid(r *request, d *agent.Dialog) bool {
	return len(f.unnamed(r, f.drawnAlike(r, d))) > 0 || f.unnamedOpen(r, d)
}

// nameAlike adds to the prompt's text the calls that its dialog may be about. Of a prompt that a hook reported these are
// only calls that were reported as over: a call that isn't over contradicts that hook.
func (f *Fold) nameAlike(p *agent.Request, r *request, d *agent.Dialog) {
	f.nameCalls(p, r, d)
	all := f.drawnAlike(r, d)
	if r.Told {
		all = slices.DeleteFunc(all, func(a lookalike) bool { return !a.over })
	}
	if len(all) > alikeShown {
		return
	}
	for _, lines := range f.unnamed(r, all) {
		addLines(p, lines)
	}
	for _, a := range all {
		if !r.Told {
			addWhole(p, a.lines, a.whole)
		}
	}
	if !p.InPart() {
		return
	}
	for _, c := range f.m.Calls { // one that has asked by a dialog that is over may ask no more
		if !c.Asked && f.looksLike(d, &c) != nil {
			f.completes(p, c.asks())
		}
	}
}

// nameThread adds to the prompt's text that its dialog may be another thread's.
func (f *Fold) nameThread(p *agent.Request, d *agent.Dialog) {
	t, ok := f.driver.(agent.ThreadShower)
	if !ok || !f.elsewhere() || p.Type != agent.PromptPermission || t.InThread(d) {
		return
	}
	if unknown := t.Opened(p); unknown != "" {
		addLines(p, mayAlso+unknown)
	}
}

// namesAlike reports whether a prompt names this call, for an agent that doesn't say which of its calls a dialog is about.
func (f *Fold) namesAlike(call *agent.Request) bool {
	a, ok := f.driver.(agent.AlikeNamer)
	return ok && a.NamesAlike(agent.Value(call.Tool), f.undrawn(call))
}

// nameCalls adds such calls to the text of a prompt that was only seen.
func (f *Fold) nameCalls(p *agent.Request, r *request, d *agent.Dialog) {
	if _, ok := f.driver.(agent.AlikeNamer); !ok || r.Told || p.Type != agent.PromptPermission {
		return
	}
	more := &request{Prompt: p.Clone(), Tool: r.Tool}
	named := strings.Count(agent.Value(p.Text), mayAlso)
	for _, c := range slices.Concat(f.m.Calls, f.m.Unasked) {
		if !f.ofTool(more, d, &c) {
			continue
		}
		call := f.called(&c)
		if f.driver.Match(d, call) == agent.NoMatch || f.drawsAll(more, d, call) || !f.namesAlike(call) {
			continue
		}
		if named++; named > alikeShown {
			return
		}
		addLines(more.Prompt, orAlso(f.undrawn(call)))
	}
	f.nameCrowded(more, d)
	p.Text = more.Prompt.Text
}

// nameCrowded says so of a dialog without a tool's name that may be about a call that had no room.
func (f *Fold) nameCrowded(r *request, d *agent.Dialog) {
	if r.Tool != "" {
		return
	}
	if !f.m.Plain.IsZero() && agent.Value(r.Prompt.Text) != agent.Value(f.driver.FromDialog(d).Text) {
		addLines(r.Prompt, orAlso(""))
	}
	crowded := func(u forgotten) bool { return u.Tool == "" || f.ofTool(r, d, &call{Tool: u.Tool}) }
	if slices.ContainsFunc(f.m.Crowded, crowded) {
		addLines(r.Prompt, hadNoRoom)
	}
}

// learnAlike does that to the prompts on the screen. The result is another prompt. While a hook waits beside the dialog, it takes
// the answer to its own call, and keys an option that only the dialog has.
func (f *Fold) learnAlike() {
	d := f.dialog()
	for _, r := range f.m.Requests {
		if d == nil || d.Cut || r.Given || !r.Prompt.OnScreen || r.Over != nil && !r.Over.Denied {
			continue
		}
		more := r.Prompt.Clone()
		f.dropUncompleted(more, r, d)
		if f.nameAlike(more, r, d); f.comesAfterHook(r, d) {
			addLines(more, onlyHook)
		}
		f.nameThread(more, d)
		f.nameOpen(more, r, d)
		f.renewWith(r, more)
	}
}

// looksAt follows the dialog on the screen, and that it has gone.
func (f *Fold) looksAt() {
	m := &f.m
	d, was := f.dialog(), m.Look
	key := lookOf(m.Screen.Key)
	m.Look.follow(d != nil && ofWork(d), key, m.Screen.Shown, f.now)
	m.Aside.follow(d != nil && asksAside(d), key, m.Screen.Shown, f.now)
	m.Other.follow(d != nil && !ofWork(d) && !asksAside(d), key, m.Screen.Shown, f.now)
	f.facesAt(d)
	if !was.Gone.IsZero() {
		return
	}
	if t := m.Looks[was.Key]; t != nil && t.Given >= t.Of && f.now.Sub(t.At) >= typedHolds {
		t.Given, t.By = t.Of-1, ""
	}
}

// drawsCalls records of each call that its dialog may be on the screen.
func (f *Fold) drawsCalls() {
	f.looksAt()
	defer f.recount()
	d, m := f.dialog(), &f.m
	if d == nil || !ofWork(d) {
		return
	}
	l, logs := f.comparesPast(d)
	_, names := f.driver.(agent.CallNamer)
	logged := func(c pastCall) bool {
		shown := f.compared(l, d, c)
		return shown.match != agent.NoMatch || shown.mayHide
	}
	f.eachCall(func(c *call) {
		if f.looksLike(d, c) != nil || logs && c.Logged != "" && logged(pastCall{Tool: c.Tool, Input: c.Logged}) || names && f.mayDraw(d, c) {
			c.Look = m.Look.Key
		}
	})
	for i := range m.Past {
		if p := &m.Past[i]; logs && logged(*p) {
			p.Look = m.Look.Key
		}
	}
}

// asksElse reports whether the fact says that the call with its id asks for something else than was reported before. The session
// log and a hook may have another form of one input, so inputs aren't compared.
func (f *Fold) asksElse(c *call, fact *agent.Fact) bool {
	return c.Asks != nil && fact.Request != nil && (c.Full != fact.Request.FullInput || f.undrawn(c.asks()) != f.undrawn(fact.Request))
}

// A hook may leave out what only the session log has of its call, such as the shell that runs a command, and it may not say which
// call it asks about. So its prompt has that of the call that it may be about, and names the other ones. Any process of the session
// can report that a call is over, so calls that are over count until the agent rests. This is for drivers that implement
// agent.CallCompleter.

// variant is a permission's input as one of several calls would have it.
type variant struct {
	raw   json.RawMessage
	lines string // what no dialog draws of it
}

// completed returns the fact with what no dialog draws of its tool's input, also of what only the log has. With more calls than a
// prompt names no hook waits.
func (f *Fold) completed(fact *agent.Fact) *agent.Fact {
	own, all := f.variants(fact)
	if len(all) == 0 {
		full := f.withUndrawn(f.uncompleted(fact))
		f.nameForgotten(full.Request)
		return full
	}
	whole := *fact
	whole.Request = fact.Request.Clone()
	whole.Request.Raw = own.raw
	full := f.withUndrawn(&whole)
	if len(all) > alikeShown {
		full.Hook = ""
		return full
	}
	if !f.m.Plain.IsZero() {
		all = append(all, variant{})
	}
	for _, v := range all {
		f.nameVariant(full.Request, v)
	}
	f.nameForgotten(full.Request)
	return full
}

// variants are the different inputs that the permission may have, and the one of the first call that no open prompt is about.
func (f *Fold) variants(fact *agent.Fact) (own variant, all []variant) {
	m := &f.m
	found := false
	for i, c := range slices.Concat(m.Calls, m.Unasked) {
		if c.Asks == nil || c.Agent != fact.Agent {
			continue
		}
		v, is := f.variantOf(fact.Request, c.asks())
		if !is {
			continue
		}
		taken := i >= len(m.Calls) || slices.ContainsFunc(m.Requests, func(r *request) bool { return r.Call == c.ID && c.ID != "" })
		if !found && (!taken || len(all) == 0) {
			own, found = v, !taken
		}
		if !slices.ContainsFunc(all, func(o variant) bool { return o.lines == v.lines }) {
			all = append(all, v)
		}
	}
	return own, all
}

func (f *Fold) variantOf(asked, logged *agent.Request) (v variant, is bool) {
	l, ok := f.driver.(agent.CallCompleter)
	if !ok || asked == nil || logged == nil {
		return v, false
	}
	p := asked.Clone()
	if p.Raw = l.WithLogged(asked, logged); p.Raw == nil {
		return v, false
	}
	return variant{p.Raw, f.undrawn(p)}, true
}

// nameVariant adds to the prompt's text that it may be about such a call, unless it says so.
func (f *Fold) nameVariant(p *agent.Request, v variant) {
	if v.lines != f.undrawn(p) {
		addLines(p, orAlso(v.lines))
	}
}

// nameForgotten says so of a prompt that a call in the log could complete.
func (f *Fold) nameForgotten(p *agent.Request) {
	if _, is := f.variantOf(p, p); is && (f.m.Forgotten || !f.m.Skipped.IsZero()) {
		addLines(p, hadNoRoom)
	}
}

// nameLogged names a newly logged call in the prompts that a hook reported before the log had the call. The result is another prompt.
func (f *Fold) nameLogged(logged *agent.Fact) {
	for _, r := range f.m.Requests {
		if !r.Told || r.Given || r.Agent != logged.Agent || r.Over != nil && !r.Over.Denied {
			continue
		}
		if v, is := f.variantOf(r.Prompt, logged.Request); is {
			more := r.Prompt.Clone()
			f.nameVariant(more, v)
			f.renewWith(r, more)
		}
	}
}

// A hook of the user's can rewrite a call, and a call from within the model's code isn't logged as one. So the session log may have no
// call that completes what the agent asks about: see agent.CallCompleter. The prompt says so once the log was read up to that moment.

// uncompleted is the fact of such a permission. What no dialog draws of it comes after that line.
func (f *Fold) uncompleted(fact *agent.Fact) *agent.Fact {
	if !fact.LogRead {
		return fact
	}
	whole := *fact
	whole.Request = fact.Request.Clone()
	f.nameUncompleted(whole.Request)
	return &whole
}

// nameUncompleted says of a prompt that no logged call completes it, unless it may be about one that isn't known.
func (f *Fold) nameUncompleted(p *agent.Request) {
	if l, ok := f.driver.(agent.CallCompleter); ok && !f.m.Forgotten && f.m.Skipped.IsZero() {
		addLines(p, l.Uncompleted(p))
	}
}

// nameUnlogged does that of a permission that was only seen. Without hooks the log's path isn't known, so no log has its call.
func (f *Fold) nameUnlogged(p *agent.Request, d *agent.Dialog) {
	if p.Type == agent.PromptPermission && !f.logsDrawn(d) {
		f.nameUncompleted(p)
	}
}

// logsDrawn reports whether a call of the main agent looks like the dialog.
func (f *Fold) logsDrawn(d *agent.Dialog) bool {
	return slices.ContainsFunc(slices.Concat(f.m.Calls, f.m.Unasked), func(c call) bool { return c.Agent == "" && f.looksLike(d, &c) != nil })
}

// dropUncompleted takes the line from such a prompt: the log was later than the dialog.
func (f *Fold) dropUncompleted(p *agent.Request, r *request, d *agent.Dialog) {
	if l, ok := f.driver.(agent.CallCompleter); ok && !r.Told && f.logsDrawn(d) {
		line := l.Uncompleted(p)
		all := slices.DeleteFunc(strings.Split(agent.Value(p.Text), "\n\n"), func(own string) bool { return line != "" && own == line })
		if text := strings.Join(all, "\n\n"); text != agent.Value(p.Text) {
			p.Text = &text
		}
	}
}

// learnUncompleted does that of the permissions that hooks have reported before an earlier server was killed, now that the log was read
// again. The result is another prompt.
func (f *Fold) learnUncompleted() {
	for _, r := range f.m.Requests {
		if !r.Told || r.Given || r.Agent != "" {
			continue
		}
		if _, all := f.variants(&agent.Fact{Request: r.Prompt}); len(all) == 0 {
			more := r.Prompt.Clone()
			f.nameUncompleted(more)
			f.renewWith(r, more)
		}
	}
}
