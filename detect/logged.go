package detect

import (
	"slices"
	"time"

	"berth/agent"
)

// A prompt that no hook reported is what its dialog shows, and a dialog may show less than the
// agent asks: a text may have no room, and some fields are never drawn. The agent's session log has
// the whole call. The functions of this file compare the two, for drivers that implement
// agent.CallLogReader.

// logged says how much of a call the dialog shows, and which lines of it no dialog draws. ok is
// false for a call that the session log hasn't reported. The log doesn't have subagents' calls, and
// a form is asked by a call that runs already.
func (f *Fold) logged(c *call, d *agent.Dialog) (shown agent.Match, undrawn string, ok bool) {
	l, reads := f.driver.(agent.CallLogReader)
	if !reads || c.Logged == "" || c.Agent != "" || d.Agent != "" || d.Type == agent.PromptForm || !ofWork(d) {
		return agent.NoMatch, "", false
	}
	shown, undrawn = l.LoggedCall(d, c.Tool, []byte(c.Logged))
	return shown, undrawn, true
}

// ofNone reports whether the log has calls that may still ask, and the dialog, which names no tool, can't be that of one.
func (f *Fold) ofNone(d *agent.Dialog) bool {
	found := false
	for i := range f.m.Calls {
		c := &f.m.Calls[i]
		shown, _, ok := f.logged(c, d)
		if !ok || d.Type != agent.PromptPermission {
			continue
		}
		if shown != agent.NoMatch || f.driver.Match(d, f.called(c)) != agent.NoMatch {
			return false
		}
		found = found || !c.Asked && !c.Allowed
	}
	return found
}

// unlogged reports whether the log has calls without results, and the dialog shows none of them. Where hooks report, the
// log must have the dialog's call before a key is pressed: any process can send a hook.
func (f *Fold) unlogged(r *request, d *agent.Dialog) bool {
	switch {
	case d.Cut:
		return false
	case d.Tool == "":
		return f.ofNone(d)
	}
	found := false
	for i := range f.m.Calls {
		shown, _, ok := f.logged(&f.m.Calls[i], d)
		if shown != agent.NoMatch {
			return false
		}
		found = found || ok
	}
	return found || f.needsLog(r, d) && f.now.Sub(f.m.Screen.Shown) >= hookLate
}

// needsLog reports whether only the session log can confirm the prompt's dialog.
func (f *Fold) needsLog(r *request, d *agent.Dialog) bool {
	_, reads := f.driver.(agent.CallLogReader)
	return reads && f.m.Hooked && f.m.Logs && r.Prompt.OnScreen && d != nil && d.Tool != "" && d.Agent == "" && !d.Cut && d.Type != agent.PromptForm && ofWork(d)
}

// lacksPages reports whether the questions were only seen, and the session log has those of all pages up to 0.7 s later. In the
// first turn that may be the first that is read of the log.
func (f *Fold) lacksPages(r *request, d *agent.Dialog) bool {
	_, reads := f.driver.(agent.CallLogReader)
	return reads && d != nil && d.Type == agent.PromptQuestion && d.Tool != "" && ofWork(d) && r.Prompt.OnScreen && r.seenOnly() && r.Prompt.Type == d.Type
}

// reported says the same as logged of the call that a hook reported. ok is false for another subagent's
// call.
func (f *Fold) reported(o *request, d *agent.Dialog) (shown agent.Match, undrawn string, ok bool) {
	l, reads := f.driver.(agent.CallLogReader)
	if !reads || !o.Told || agent.Value(o.Prompt.Agent) != d.Agent || d.Type == agent.PromptForm || !ofWork(d) {
		return agent.NoMatch, "", false
	}
	alone := *d
	alone.Agent = "" // a call says nothing about who asks
	shown, undrawn = l.LoggedCall(&alone, o.Tool, o.Prompt.Raw)
	return shown, undrawn, true
}

// leavesOut reports whether the dialog may be about the reported call, and prompt p, which was only
// seen, doesn't say what the dialog leaves out of it. A question or a plan allows nothing by itself.
func (f *Fold) leavesOut(o *request, p *agent.Request, d *agent.Dialog) bool {
	if p.Type != agent.PromptPermission {
		return false
	}
	shown, undrawn, ok := f.reported(o, d)
	return ok && (shown == agent.NoMatch || !says(p, undrawn))
}

// addUndrawn adds to the text of a dialog's prompt what the dialog doesn't draw of the calls that it may
// be about: the logged ones, and those of hooks that don't wait, or not in this conversation.
func (f *Fold) addUndrawn(p *agent.Request, d *agent.Dialog) {
	if p.Type != agent.PromptPermission {
		return // what the dialog of a question or a plan shows is compared
	}
	add := func(shown agent.Match, undrawn string, _ bool) {
		if shown != agent.NoMatch {
			addLines(p, undrawn)
		}
	}
	for i := range f.m.Calls {
		add(f.logged(&f.m.Calls[i], d))
	}
	for _, c := range f.opened() {
		add(f.logged(&c, d))
	}
	f.addPast(p, d, "")
	for _, o := range slices.Concat(f.m.Requests, f.m.Lost) {
		if o.Hook == "" {
			add(f.reported(o, d))
		}
	}
}

// concealed reports whether the dialog may be about a logged call, and leaves out more of it than the prompt
// says. One that shows all of another call may be about this one nevertheless. until is when that call is
// forgotten; it is zero for a call without a result.
func (f *Fold) concealed(r *request, d *agent.Dialog) (until time.Time, hides bool) {
	l, ok := f.comparesPast(d)
	if !ok {
		return until, false
	}
	may := func(tool string) bool { // a server's tool may be named otherwise in its dialog
		return d.Tool == "" || tool == d.Tool || tool == r.Tool
	}
	for _, u := range f.m.Crowded {
		if (u.Tool == "" || may(u.Tool)) && f.now.Sub(u.At) < pastFor {
			return u.At.Add(pastFor), true
		}
	}
	told := f.toldUndrawn(l, r, d)
	hidden := func(c pastCall) (comparison, bool) {
		shown := f.compared(l, d, c)
		return shown, shown.match == agent.NoMatch && shown.mayHide
	}
	for _, c := range slices.Concat(f.m.Calls, f.opened()) {
		if c.Logged == "" || c.Agent != "" {
			continue
		}
		shown, so := hidden(pastCall{Tool: c.Tool, Input: c.Logged})
		if so && may(c.Tool) || shown.match != agent.NoMatch && r.Told && r.Prompt.Type == agent.PromptPermission && shown.undrawn != told ||
			shown.match != agent.NoMatch && r.guessed() && r.Prompt.Type == agent.PromptPermission && !says(r.Prompt, shown.undrawn) {
			return until, true
		}
	}
	for _, c := range f.pastOf(l, d) {
		if !may(c.Tool) {
			continue
		}
		shown, so := hidden(c)
		if so || shown.match != agent.NoMatch && r.Prompt.Type == agent.PromptPermission && shown.undrawn != told && !says(r.Prompt, shown.undrawn) {
			return c.At.Add(pastFor), true
		}
	}
	return until, false
}

// toldUndrawn is what the dialog doesn't draw of the call that a hook reported.
func (f *Fold) toldUndrawn(l agent.CallLogReader, r *request, d *agent.Dialog) (undrawn string) {
	if r.Told && r.Prompt.Type == agent.PromptPermission {
		_, undrawn = l.LoggedCall(d, r.Tool, r.Prompt.Raw)
	}
	return undrawn
}

// hookLate is how much later than its dialog a hook is waited for. Claude Code's came up to 77 ms later, and keys
// wait for a second.
const hookLate = 900 * time.Millisecond

// unhooked reports whether a dialog has no hook although the agent's hooks report what it asks. Its hook was
// ended, or held up, and only that knew what the dialog leaves out.
func (f *Fold) unhooked(r *request, d *agent.Dialog) bool {
	return f.needsHook(r, d) && f.now.Sub(f.unreportedSince(r)) >= hookLate
}

// unreportedSince is since when the prompt could be seen. A later page of questions doesn't begin anew.
func (f *Fold) unreportedSince(r *request) time.Time {
	if r.Opened.Before(f.m.Screen.Shown) {
		return r.Opened
	}
	return f.m.Screen.Shown
}

// needsHook reports whether a hook should report the prompt, and none has. Hooks of another conversation count: the
// agent may have moved unnoticed.
//
// A report of something similar counts too, other than for the dialog of a subagent that no log has: any process can send one.
func (f *Fold) needsHook(r *request, d *agent.Dialog) bool {
	l, ok := f.driver.(agent.PromptReporter)
	if !ok || !f.m.Hooked || r.Told || !r.Prompt.OnScreen || d == nil || !ofWork(d) || !l.ReportsDialog(d) {
		return false
	}
	if _, logs := f.driver.(agent.CallLogReader); logs && d.Agent != "" {
		return true
	}
	if r.Vouched {
		return false
	}
	return !slices.ContainsFunc(f.m.Lost, func(o *request) bool { return o.Foreign && f.shows(d, o) != agent.NoMatch })
}

// drawnUnasked reports whether a form is on the screen although Berth hasn't released its hook. Any process can end that hook, or keep
// it from reporting. No key answers such a form, because its server can withdraw it at any moment.
func (f *Fold) drawnUnasked(r *request, d *agent.Dialog) bool {
	l, ok := f.driver.(agent.PromptReporter)
	return ok && f.m.Hooked && d.Type == agent.PromptForm && r.ReleasedAt.IsZero() && l.ReportsDialog(d)
}

// unconfirmed reports whether only a hook says what a subagent's dialog leaves out, and a key would answer it. Any
// process can end the subagent's own hook and send another one, and the session log doesn't have the call. The prompt of a
// released hook says so.
func (f *Fold) unconfirmed(r *request, d *agent.Dialog) bool {
	_, logs := f.driver.(agent.CallLogReader)
	l, ok := f.driver.(agent.PromptReporter)
	asked := r.Told && r.Prompt.Type == agent.PromptPermission && !says(r.Prompt, onlyHook)
	return ok && logs && asked && d.Agent != "" && ofWork(d) && l.ReportsDialog(d)
}

// comesAfterHook reports whether the subagent's dialog came at once after Berth had released the hook that kept it off the
// screen. That hook was the subagent's own, or another process has drawn over the dialog until then.
func (f *Fold) comesAfterHook(r *request, d *agent.Dialog) bool {
	drawn := f.m.Screen.Shown.Sub(r.ReleasedAt)
	return d.Agent != "" && !r.ReleasedAt.IsZero() && drawn >= 0 && drawn < hookLate
}

// comparesPast reports whether the dialog may be about a past call of the main agent.
func (f *Fold) comparesPast(d *agent.Dialog) (agent.CallLogReader, bool) {
	l, ok := f.driver.(agent.CallLogReader)
	return l, ok && d.Agent == "" && d.Type != agent.PromptForm && ofWork(d)
}

// addPast adds to the prompt's text what its dialog doesn't draw of a few past calls, other than what it
// doesn't draw of the prompt's own call.
func (f *Fold) addPast(p *agent.Request, d *agent.Dialog, own string) {
	l, ok := f.comparesPast(d)
	if !ok {
		return
	}
	added := map[string]bool{}
	for _, c := range f.pastOf(l, d) {
		shown := f.compared(l, d, c)
		if shown.match == agent.NoMatch || shown.undrawn == "" || shown.undrawn == own || added[shown.undrawn] {
			continue
		}
		if len(added) == pastShown {
			return
		}
		added[shown.undrawn] = true
		addLines(p, shown.undrawn)
	}
}
