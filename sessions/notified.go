package sessions

import (
	"context"
	"maps"
	"slices"
)

const eventNotify = "notify"

// Notified is what became of a notice: that an agent waits, or has failed.
type Notified struct {
	Rule  string `json:"rule"`
	Key   string `json:"key"` // of what was told, the same each time
	Kind  string `json:"kind"`
	OK    bool   `json:"ok"`
	Error string `json:"error"`
}

// Notified tells that a notice was told, or could not be.
func (s *Session) Notified(ctx context.Context, n Notified) error {
	return s.do(ctx, func(c *core) {
		c.flushTyping(c.now(), true)
		c.note(eventNotify, n)
	})
}

// Secrets are the values of the session's environment that must not be shown.
func (s *Session) Secrets() []string {
	env := s.Status().Env
	shown := s.reg.options.Environment.Redact(env)
	var secrets []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if shown[name] != env[name] {
			secrets = append(secrets, env[name])
		}
	}
	return secrets
}
