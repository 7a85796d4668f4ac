package sessions

import (
	"context"
	"encoding/json"
	"errors"

	"berth/api"
	"berth/sessions/events"
	"berth/sessions/track"
)

// Explanation is the answer of the verb explain. Asking is an open prompt in it, and ByWho a
// source that may change the state.
type (
	Explanation = track.Explanation
	Asking      = track.Asking
	ByWho       = track.ByWho
)

// Explain says why the session's state is what it is.
func (s *Session) Explain(ctx context.Context) (Explanation, error) {
	return ask(ctx, s, func(c *core) (Explanation, error) {
		e := c.track.Explain(c.now())
		e.Session, e.ID, e.Agent = c.spec.Name, s.id, c.specNow().Agent
		return e, nil
	})
}

// ExplainAt says why the session's state changed with its event of that
// number. Errors: NOT_FOUND if there is no such event or it was dropped as old,
// BAD_REQUEST if the event isn't a change of state.
func (s *Session) ExplainAt(ctx context.Context, seq uint64) (Explanation, error) {
	st := s.Status()
	line, err := s.reg.events.ReadBack(ctx, s.id, seq)
	switch {
	case errors.Is(err, events.ErrNotFound):
		return Explanation{}, api.Errorf(api.CodeNotFound, "%s has no event %d: its newest is %d", st.Name, seq, st.Seq).With("seq", st.Seq)
	case errors.Is(err, events.ErrGone):
		return Explanation{}, api.Errorf(api.CodeNotFound, "event %d of %s is gone by retention", seq, st.Name)
	case err != nil:
		return Explanation{}, err
	}
	if line.Type != "state_change" {
		return Explanation{}, api.Errorf(api.CodeBadRequest, "event %d of %s is of type %s, not a change of state: watch %s --type state_change --since %s:0 lists those", seq, st.Name, line.Type, st.Name, st.Name).With("type", line.Type)
	}
	var told track.StateEvent
	if err := json.Unmarshal(line.Raw, &told); err != nil {
		return Explanation{}, api.Errorf(api.CodeInternal, "read event %d of %s: %w", seq, st.Name, err)
	}
	e := track.ExplainPast(told, api.At(line.Time), seq)
	e.Session, e.ID, e.Agent = st.Name, s.id, st.Agent
	return e, nil
}
