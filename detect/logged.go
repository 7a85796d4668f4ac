package detect

import (
	"slices"
	"strings"

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
// dialog that doesn't name its tool may be about something else than a call.
func (f *Fold) unlogged(r *request, d *agent.Dialog) bool {
	if !r.seenOnly() || d.Tool == "" || d.Cut {
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
	return found
}

// addUndrawn adds to the text of a dialog's prompt what the dialog doesn't draw of the logged calls
// that it may be about.
func (f *Fold) addUndrawn(p *agent.Request, d *agent.Dialog) {
	if p.Type != agent.PromptPermission {
		return // what the dialog of a question or a plan shows is compared
	}
	for i := range f.m.Calls {
		shown, undrawn, _ := f.logged(&f.m.Calls[i], d)
		text := agent.Value(p.Text)
		if shown == agent.NoMatch || undrawn == "" || slices.Contains(strings.Split(text, "\n\n"), undrawn) {
			continue
		}
		p.Text = agent.Pointer(strings.TrimPrefix(text+"\n\n"+undrawn, "\n\n"))
	}
}
