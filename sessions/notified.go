package sessions

import (
	"context"
	"maps"
	"slices"
)

const eventNotify = "notify"

// Notified is the result of a notice, as its event has it. See package notify.
type Notified struct {
	Rule  string `json:"rule"`
	Key   string `json:"key"` // of the notice's occasion
	Kind  string `json:"kind"`
	OK    bool   `json:"ok"`
	Error string `json:"error"`
}

// Notified emits the event of a notice that was sent or has failed.
func (s *Session) Notified(ctx context.Context, n Notified) error {
	return s.do(ctx, func(c *core) {
		c.clients.Gather()
		c.kernel.Emit.Note(eventNotify, n)
	})
}

// Secrets are the values of the session's environment that must not be shown: those
// that its program was started with, as far as this server knows, and those that it
// would be started with now.
func (s *Session) Secrets() []string {
	var secrets []string
	if then := s.secrets.Load(); then != nil {
		secrets = slices.Clone(*then)
	}
	spec := s.Status().Spec
	e, err := s.reg.options.Environment.of(nil, spec, false)
	var env map[string]string
	if err == nil {
		env, _, err = e.values(spec)
	}
	if err != nil { // its file is gone, say
		env = spec.Env
	}
	return append(secrets, s.secretsOf(env)...)
}

func (s *Session) secretsOf(env map[string]string) (secrets []string) {
	shown := s.reg.options.Environment.Redact(env)
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if shown[name] != env[name] {
			secrets = append(secrets, env[name])
		}
	}
	return secrets
}

// keepSecrets remembers what a program is started with.
func (s *Session) keepSecrets(prog program) {
	secrets := s.secretsOf(EnvMap(prog.env))
	s.secrets.Store(&secrets)
}
