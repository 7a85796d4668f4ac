package detect

import (
	"slices"

	"berth/agent"
)

// answered handles the agent's report that a prompt of some type was answered. Several servers can ask by forms at once, and the
// report doesn't say about which form it is. A form whose hook waits is still open: the agent ends that hook first.
func (f *Fold) answered(fact *agent.Fact) {
	if fact.Request == nil || !f.may(agent.MoveAnswer, fact.Source) {
		return
	}
	is := func(r *request) bool { return r.Prompt.Type == fact.Request.Type && r.Agent == fact.Agent }
	if fact.Request.Type == agent.PromptForm {
		var form *request
		for _, r := range f.m.Requests {
			if is(r) && r.Hook == "" && (form == nil || r.Prompt.OnScreen) {
				form = r
			}
		}
		is = func(r *request) bool { return r == form }
	}
	f.closeAll("answered", fact.Source, fact.Cause, false, is)
}

// hookGone handles the end of a hook that waited. Its dialog stays if there is one.
//
// If the hook passed an answer to the agent, the dialog is answered, and takes a moment to go. The agent's
// log may be quicker to say so than the hook; such a prompt isn't lost.
func (f *Fold) hookGone(fact *agent.Fact) {
	if fact.Hook != "" && fact.Cause == agent.CauseDelivered {
		for _, r := range f.m.Lost {
			r.Given = r.Given || r.LostBy == fact.Hook
		}
		f.m.Lost = slices.DeleteFunc(f.m.Lost, func(r *request) bool { return r.LostBy == fact.Hook && r.hookAllowed() })
	}
	for _, r := range f.m.Requests {
		if r.Hook != fact.Hook || fact.Hook == "" {
			continue
		}
		r.Hook, r.Prompt.Channel = "", agent.ChannelKeys
		r.Given = fact.Cause == agent.CauseDelivered
		released := fact.Evidence == agent.HookReleased
		r.Released = r.Released || released
		form := released && r.Prompt.Type == agent.PromptForm // it comes to the screen, as others do
		if r.Waits = !r.Given && !form; form || released && f.dialog() == nil {
			r.ReleasedAt = f.now
		}
		switch d := f.dialog(); {
		case r.Given:
			r.Taken, f.m.Screen.Given = f.now, f.now
		case r.Prompt.OnScreen && d != nil && f.shows(d, r) == agent.AlikeMatch:
			f.m.Screen.Given = f.now
		}
	}
	f.closeAll("ended", fact.Source, fact.Cause, false, func(r *request) bool {
		return r.Told && r.Hook == "" && r.Waits && !r.Seen && f.m.ended(r.Turn) && !f.m.inBackground(r.Agent)
	})
}

// Holds reports whether the hook waits for an open prompt's answer.
func (f *Fold) Holds(hook string) bool {
	_, ok := f.HeldBy(hook)
	return ok
}

// HeldBy returns a copy of the prompt that the hook waits for.
func (f *Fold) HeldBy(hook string) (*agent.Request, bool) {
	for _, r := range f.m.Requests {
		if r.Hook == hook {
			return r.Prompt.Clone(), true
		}
	}
	return nil, false
}
