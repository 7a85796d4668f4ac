package sessions

import (
	"context"
	"encoding/json"
	"fmt"

	"berth/sessions/gates/begin"
)

// FollowConfig gives a session what has changed in the configuration since the
// last call. What has not changed in the file stays as a caller has set it.
func (s *Session) FollowConfig(ctx context.Context, now Configured, by Actor) error {
	st := s.Status()
	was := Configured{Gate: now.Gate, Start: now.Start} // of one made before this was kept: what is in force may be anybody's
	if st.Configured != nil {
		was = *st.Configured
	}
	if st.Configured != nil && same(was, now) {
		return nil
	}
	if !same(was.Gate, now.Gate) {
		if _, err := s.SetGate(ctx, by, now.Gate); err != nil {
			return fmt.Errorf("set its gate: %w", err)
		}
	}
	for _, source := range begin.Sources {
		one, is := now.Start[source]
		if before, had := was.Start[source]; is == had && same(before, one) {
			continue
		}
		set := &one
		if !is {
			set = nil
		}
		if err := s.SetStartContext(ctx, by, source, set); err != nil {
			return fmt.Errorf("set its start context: %w", err)
		}
	}
	return s.change(ctx, func(c *core) error {
		return c.changeSpec(func(spec *Spec) {
			spec.Configured = &now
			if !same(was.Notify, now.Notify) {
				spec.Notify = now.Notify // only the configuration sets it
			}
		}, func() {})
	})
}

// same compares settings by what is kept of them. None is the same as an empty
// list of them.
func same(a, b any) bool {
	kept := func(v any) string {
		data, err := json.Marshal(v)
		if err != nil {
			return err.Error() // settings come from text
		}
		if s := string(data); s != "[]" && s != "{}" {
			return s
		}
		return "null"
	}
	return kept(a) == kept(b)
}
