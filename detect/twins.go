package detect

import (
	"cmp"
	"slices"

	"berth/agent"
)

// A model may make two equal calls at once. Each asks, and each has a prompt of its own, because one answer isn't meant for both. Their
// dialogs look the same.

// ofAnother reports whether the fact is about another call than the prompt's, and the two are equal: it names that call, or its hook
// waits too and there are more such calls than hooks that wait for them.
func (f *Fold) ofAnother(r *request, fact *agent.Fact) bool {
	if r.Call != "" && fact.Call != "" {
		return r.Call != fact.Call
	}
	waiting := 0
	for _, o := range f.m.Requests {
		if o.Hook != "" && (o == r || o.twin(r)) {
			waiting++
		}
	}
	return fact.Hook != "" && r.Hook != "" && f.equals(r) > waiting
}

// nameCall finds the tool call that the prompt is about, so that the call's end closes the prompt
// even if the answer changed the input. Of equal calls it is one that no other prompt is about.
func (f *Fold) nameCall(r *request) {
	if r.Call == "" {
		r.Call = cmp.Or(f.callOf(r, true), f.callOf(r, false))
	}
}

// callOf is the id of a call that the prompt may be about. free: no other prompt is.
func (f *Fold) callOf(r *request, free bool) string {
	for _, c := range f.m.Calls {
		taken := func(o *request) bool { return o != r && o.Call == c.ID }
		if c.Tool == r.Tool && c.Agent == r.Agent && c.Input == r.Input && !(free && slices.ContainsFunc(f.m.Requests, taken)) {
			return c.ID
		}
	}
	return ""
}

// unanswered returns the prompt of an equal call instead, if the dialog on the screen is that one's, or if this one was answered and the
// dialog stays. Each call has a dialog of its own, and the dialogs look the same.
func (f *Fold) unanswered(r *request) *request {
	for _, o := range f.m.Requests {
		answered := r != nil && r.Over != nil && r.Over.Denied
		if r != nil && !o.Given && o.Over == nil && (o.Prompt.OnScreen || answered) && o.twin(r) {
			r = o
		}
	}
	return r
}

// twin reports whether two reported prompts are those of equal calls.
func (r *request) twin(o *request) bool {
	return r != o && r.Told && o.Told && r.Call != "" && o.Call != "" && r.Call != o.Call &&
		r.Tool == o.Tool && r.Agent == o.Agent && r.Input == o.Input && canonical(r.Raw) == canonical(o.Raw)
}
