package sessions

import (
	"context"
	"time"

	"berth/agent"
	"berth/api"
	"berth/sessions/account"
	"berth/sessions/loop"
)

// resumable says whether a new start can resume the agent's conversation, and
// another session can fork it. The agent must have saved it.
func (r *Registry) resumable(st *Status) bool {
	driver, ok := r.driver(st.Spec).(agent.ConversationFinder)
	if !ok || st.Talk() == "" || st.Attached != "" {
		return false
	}
	user, err := r.options.Environment.account(st.Spec)
	if err != nil {
		return false // no program can start as this user, so none can resume it
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

// apart refuses a conversation that another session is in: both would write
// its log.
func (r *Registry) apart(spec Spec) error {
	if spec.Conversation == "" {
		return nil
	}
	for _, s := range r.All() {
		st := s.Status()
		if st.ID != spec.ID && st.Agent == spec.Agent && st.Running() && st.Talk() == spec.Conversation {
			return api.Errorf(api.CodeBadRequest, "another session is in the conversation %s: fork that session, or end it first", spec.Conversation).With("conversation", spec.Conversation)
		}
	}
	return nil
}
