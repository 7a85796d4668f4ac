package sessions

import (
	"context"
	"maps"
	"slices"
	"time"

	"berth/agent"
	"berth/api"
	"berth/sessions/account"
	"berth/sessions/loop"
)

// Fork makes a session of the same spec whose agent begins from the
// conversation of s as it stands. That one goes on, or stays ended, as it is.
// prompt is its first message, or empty.
func (r *Registry) Fork(ctx context.Context, s *Session, name, prompt string, by Actor) (*Session, error) {
	st := s.Status()
	if _, ok := r.driver(st.Spec).(agent.Launcher); !ok {
		return nil, api.Errorf(api.CodeNoDriver, "%s runs %s, of which berth knows no conversation", st.Name, st.Agent).With("session", st.Name)
	}
	if err := r.writtenDown(ctx, s); err != nil {
		return nil, err
	}
	if !r.resumable(st) {
		return nil, api.Errorf(api.CodeNotReady, "nothing was said in the conversation of %s yet: there is nothing to begin from", st.Name).With("session", st.Name)
	}
	spec := st.Spec
	spec.ID, spec.Name, spec.Parent, spec.Root, spec.Depth, spec.Prompt = "", name, "", "", 0, prompt
	spec.Fork = Fork{Session: st.ID, Conversation: st.Talk()}
	spec.Conversation, spec.Spoken, spec.TakeUp, spec.StateFile, spec.Begun, spec.Vouched = "", false, "", "", false, nil
	spec.Tags, spec.Meta, spec.Configured = slices.Clone(spec.Tags), maps.Clone(spec.Meta), nil
	return r.New(ctx, spec, by)
}

// resumable says whether a new start takes the agent's conversation up, and
// another session can begin from it: something was said in it.
func (r *Registry) resumable(st *Status) bool {
	driver, ok := r.driver(st.Spec).(agent.ConversationFinder)
	if !ok || st.Talk() == "" {
		return false
	}
	user, err := r.options.Environment.account(st.Spec)
	if err != nil {
		return false // there is nobody to take it up
	}
	recalls, err := account.As(context.Background(), user, func() (bool, error) {
		return driver.HasConversation(disk{}, st.LogFiles, st.Talk()), nil
	})
	return err == nil && recalls
}

const (
	// An agent writes down what was said a moment after it. How long that takes was
	// not measured; 2 s is a guess that a caller can wait for.
	writesWithin = 2 * time.Second
	writesLook   = 20 * time.Millisecond
)

// writtenDown waits, for a while, until the agent has written down what was said:
// one that is ended before leaves nothing to take up. The error is the
// context's.
func (r *Registry) writtenDown(ctx context.Context, s *Session) error {
	for end := time.Now().Add(writesWithin); time.Now().Before(end); {
		st := s.Status()
		_, recalls := r.driver(st.Spec).(agent.ConversationFinder)
		silent := !st.Spoken && st.LastInput.Before(st.Started) // of one without hooks only its log says what was said
		if !recalls || silent || st.Exit != nil || r.resumable(st) {
			return nil
		}
		if err := loop.Pause(ctx, nil, writesLook); err != nil {
			return err
		}
	}
	return nil
}
