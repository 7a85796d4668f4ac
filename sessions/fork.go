package sessions

import (
	"context"
	"maps"
	"slices"

	"berth/agent"
	"berth/api"
)

// Fork makes a session with the same spec. Its agent begins from a copy of the
// current conversation of s. s itself goes on, or stays ended. prompt is the new
// session's first message, or empty. change, which may be nil, changes the spec first.
func (r *Registry) Fork(ctx context.Context, s *Session, name, prompt string, change func(Spec) Spec, by Actor) (*Session, error) {
	st := s.Status()
	if st.Attached != "" {
		return nil, api.Errorf(api.CodeNoDriver, "cannot fork %s: its own program isn't %s, which was started in it; start a session with new -- %s", st.Name, st.Agent, st.Agent).With("session", st.Name)
	}
	if _, ok := r.driver(st.Spec).(agent.Launcher); !ok {
		return nil, api.Errorf(api.CodeNoDriver, "cannot fork %s: it runs %s, and berth can't resume conversations of that program", st.Name, st.Agent).With("session", st.Name)
	}
	if err := r.writtenDown(ctx, s); err != nil {
		return nil, err
	}
	if !r.resumable(st) {
		return nil, api.Errorf(api.CodeNotReady, "nothing was said in the conversation of %s yet: there is nothing to begin from", st.Name).With("session", st.Name)
	}
	spec := st.Spec
	if change != nil {
		spec = change(spec)
		spec.Prompt = st.Prompt
		if err := r.changeable(st.Spec, spec); err != nil {
			return nil, err
		}
	}
	spec.ID, spec.Name, spec.Parent, spec.Root, spec.Depth, spec.Prompt = "", name, "", "", 0, prompt
	spec.Fork = Fork{Session: st.ID, Conversation: st.Talk()}
	spec.Conversation, spec.Spoken, spec.TakeUp, spec.StateFile, spec.Begun, spec.Vouched = "", false, "", "", false, nil
	spec.Worktree, spec.Setup = nil, nil // it works in the same folder, which stays the other's
	spec.Tags, spec.Meta, spec.Configured = slices.Clone(spec.Tags), maps.Clone(spec.Meta), nil
	return r.New(ctx, spec, by)
}
