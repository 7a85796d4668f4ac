package detect

import "berth/agent"

// covers reports whether the dialog, which is about no call, may be drawn over one that a call asks by: the last of these left the
// screen, and neither an answer nor the composer shows that it was closed. A hook's refusal shows that after an hour, because the
// hook may have been forged. Before the agent was ready there was no call. A page of the setup comes while no call is pending, but
// for the one that says that auto mode can't check a call.
func (f *Fold) covers(r *request, d *agent.Dialog) bool {
	l := &f.m.Look
	below := l.left() && !l.Heard.After(l.Gone) && (l.Heard.IsZero() || l.unanswered(f.now))
	missed := f.m.Ready && !f.m.Before.IsZero() && !r.Opened.Before(f.m.Before)
	pending := d.Type == agent.PromptSetup && d.Subtype != agent.SubtypeAutoMode && len(f.m.Calls) > 0
	return r.seenOnly() && !ofWork(d) && !asksAside(d) && (below || missed || pending)
}
