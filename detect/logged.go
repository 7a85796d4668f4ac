package detect

import (
	"slices"
	"strings"
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

// unlogged reports whether the log has calls without results, and the dialog shows none of them. A
// dialog that doesn't name its tool may be about something else than a call. Where hooks report, the
// log must have the dialog's call before a key is pressed: any process can send a hook.
func (f *Fold) unlogged(r *request, d *agent.Dialog) bool {
	if d.Tool == "" || d.Cut {
		return false
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
		if shown != agent.NoMatch && !says(p, undrawn) {
			p.Text = agent.Pointer(strings.TrimPrefix(agent.Value(p.Text)+"\n\n"+undrawn, "\n\n"))
		}
	}
	for i := range f.m.Calls {
		add(f.logged(&f.m.Calls[i], d))
	}
	for _, c := range f.m.Past {
		if f.now.Sub(c.At) < pastFor {
			add(f.logged(&call{Tool: c.Tool, Logged: c.Input}, d))
		}
	}
	for _, o := range slices.Concat(f.m.Requests, f.m.Lost) {
		if o.Hook == "" {
			add(f.reported(o, d))
		}
	}
}

// says reports whether the prompt's text has these lines.
func says(p *agent.Request, lines string) bool {
	return lines == "" || slices.Contains(strings.Split(agent.Value(p.Text), "\n\n"), lines)
}

// concealed reports whether the dialog may be about a logged call, and leaves out more of it than the prompt
// says. One that shows all of another call may be about this one nevertheless.
func (f *Fold) concealed(r *request, d *agent.Dialog) bool {
	l, ok := f.driver.(agent.CallLogReader)
	if !ok || d.Agent != "" || d.Type == agent.PromptForm || !ofWork(d) {
		return false
	}
	if at := f.m.Unpast; !at.IsZero() && f.now.Sub(at) < pastFor {
		return true
	}
	return slices.ContainsFunc(f.loggedCalls(), func(c pastCall) bool {
		if d.Tool != "" && c.Tool != d.Tool && c.Tool != r.Tool { // a server's tool may be named otherwise in its dialog
			return false
		}
		shown := f.compared(l, d, c)
		switch {
		case shown.match == agent.NoMatch:
			return shown.mayHide
		case r.Prompt.Type != agent.PromptPermission:
			return false
		case r.Told:
			_, told := l.LoggedCall(d, r.Tool, r.Prompt.Raw)
			return shown.undrawn != told
		}
		return false
	})
}

// compared compares a logged call with the dialog, once for each picture.
func (f *Fold) compared(l agent.CallLogReader, d *agent.Dialog, c pastCall) comparison {
	if f.comparedWith != d {
		f.comparedWith, f.comparisons = d, map[pastCall]comparison{}
	}
	c.At = time.Time{}
	done, ok := f.comparisons[c]
	if !ok {
		done.match, done.undrawn = l.LoggedCall(d, c.Tool, []byte(c.Input))
		done.mayHide = done.match == agent.NoMatch && l.MayHide(d, c.Tool, []byte(c.Input))
		f.comparisons[c] = done
	}
	return done
}

// hookLate is how much later than its dialog a hook is waited for. Claude Code's came up to 77 ms later, and keys
// wait for a second.
const hookLate = 900 * time.Millisecond

// unhooked reports whether a dialog has no hook although the agent's hooks report what it asks. Its hook was
// ended, or held up, and only that knew what the dialog leaves out.
func (f *Fold) unhooked(r *request, d *agent.Dialog) bool {
	return f.needsHook(r, d) && f.now.Sub(f.m.Screen.Shown) >= hookLate
}

// needsHook reports whether a hook should report the prompt, and none has. Hooks of another conversation count: the
// agent may have moved unnoticed.
func (f *Fold) needsHook(r *request, d *agent.Dialog) bool {
	l, ok := f.driver.(agent.CallLogReader)
	if !ok || !f.m.Hooked || !r.seenOnly() || !r.Prompt.OnScreen || r.Vouched || d == nil || !ofWork(d) || !l.AsksByHook(d) {
		return false
	}
	return !slices.ContainsFunc(f.m.Lost, func(o *request) bool { return o.Foreign && f.shows(d, o) != agent.NoMatch })
}
