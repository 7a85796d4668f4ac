package sessions

import (
	"context"
	"maps"
	"reflect"

	"berth/agent"
	"berth/api"
	"berth/sessions/gates/begin"
)

// changeable refuses changes that a session's program and its conversation can't follow.
func (r *Registry) changeable(was, now Spec) error {
	field := ""
	switch {
	case now.Agent != was.Agent:
		field = "agent"
	case now.User != was.User:
		field = "user"
	case now.Rules != was.Rules:
		field = "rules"
	case now.TakeUp != was.TakeUp || now.Conversation != was.Conversation:
		field = "conversation"
	case now.Prompt != was.Prompt:
		return api.Errorf(api.CodeBadRequest, "prompt is the first message of a new session: use nudge").With("session", was.Name)
	case !reflect.DeepEqual(now.Worktree, was.Worktree) || !reflect.DeepEqual(now.Setup, was.Setup):
		field = "worktree"
	case now.Cwd != was.Cwd:
		if _, launches := r.driver(was).(agent.Launcher); !launches && was.Worktree == nil {
			return nil
		}
		return api.Errorf(api.CodeBadRequest, "cwd can't change: the conversation or the worktree of %s belongs to its folder. Start another session with new", was.Name).With("session", was.Name)
	default:
		return nil
	}
	return api.Errorf(api.CodeBadRequest, "%s can't change in the session %s: start another one with new", field, was.Name).With("session", was.Name)
}

// RestartChanged is Restart of a session that change changes first; nil changes nothing. A change that can't be
// started from is refused, and the program goes on.
func (r *Registry) RestartChanged(ctx context.Context, s *Session, change func(Spec) Spec, by Actor) error {
	if change == nil {
		return r.Restart(ctx, s, by)
	}
	was, now, err := r.changedFor(ctx, s, change)
	if err != nil {
		return err
	}
	return r.restart(ctx, s, func(c *core) error { return c.changeForStart(was, now, by) }, by)
}

// changedFor completes and checks the changed spec of a session, off its loop.
func (r *Registry) changedFor(ctx context.Context, s *Session, change func(Spec) Spec) (was, now Spec, err error) {
	if was, err = ask(ctx, s, func(c *core) (Spec, error) { return c.spec, nil }); err != nil {
		return was, now, err
	}
	now = change(was)
	if now.Cwd != was.Cwd {
		now.CwdReal = ""
	}
	if err := r.changeable(was, now); err != nil {
		return was, now, err
	}
	now.Conversation, now.TakeUp, now.Fork, now.Prompt = "", "", Fork{}, "" // these are the session's own
	if now, err = r.complete(now); err != nil {
		return was, now, err
	}
	now.Conversation, now.TakeUp, now.Fork = was.Conversation, was.TakeUp, was.Fork
	_, err = r.options.Environment.resolve(now)
	return was, now, err
}

// changeForStart changes the spec for the start that follows. The events are those of the verbs that change the same.
func (c *core) changeForStart(was, now Spec, by Actor) error {
	if c.life.Exit() == nil && c.link() == nil || c.life.Starting() || !reflect.DeepEqual(was, c.spec) {
		return api.Errorf(api.CodeNotReady, "%s is being started or changed just now, or its program can't be reached: try again", c.spec.Name).With("session", c.spec.Name)
	}
	return c.become(now, by)
}

// Change changes a session's spec. What its program reads at its start changes with the next one.
func (r *Registry) Change(ctx context.Context, s *Session, change func(Spec) Spec, by Actor) error {
	was, now, err := r.changedFor(ctx, s, change)
	if err != nil {
		return err
	}
	return s.change(ctx, func(c *core) error {
		if !reflect.DeepEqual(was, c.spec) {
			return api.Errorf(api.CodeNotReady, "%s was changed just now: try again", c.spec.Name).With("session", c.spec.Name)
		}
		return c.become(now, by)
	})
}

// become gives the session another spec.
func (c *core) become(now Spec, by Actor) error {
	was := c.spec
	return c.changeSpec(func(s *Spec) { *s = now }, func() {
		if !same(was.Tags, now.Tags) || !same(was.Meta, now.Meta) {
			c.noteTags(by)
		}
		if !same(was.Gate, now.Gate) {
			c.gates.Set(by.By())
		}
		for _, source := range begin.Sources {
			one, is := now.Start[source]
			if before, had := was.Start[source]; is == had && same(before, one) {
				continue
			}
			if is {
				c.gates.StartSet(by.By(), source, &one)
			} else {
				c.gates.StartSet(by.By(), source, nil)
			}
		}
	})
}

// maxEnv bounds the variables of a session.
const maxEnv = 1000

// SetEnv sets and removes variables for the next start of the session's program.
func (s *Session) SetEnv(ctx context.Context, set map[string]string, remove []string) error {
	return s.change(ctx, func(c *core) error {
		spec := c.spec
		spec.Env = maps.Clone(spec.Env)
		if spec.Env == nil {
			spec.Env = map[string]string{}
		}
		for _, name := range remove {
			if _, ok := spec.Env[name]; !ok {
				return api.Errorf(api.CodeNotFound, "%s has no variable %s: env %s ls lists them", c.spec.Name, api.Quote(name), c.spec.Name).With("session", c.spec.Name)
			}
			delete(spec.Env, name)
		}
		maps.Copy(spec.Env, set)
		if len(spec.Env) > maxEnv {
			return api.Errorf(api.CodeLimit, "%s would have %d variables: at most %d are kept", c.spec.Name, len(spec.Env), maxEnv).With("session", c.spec.Name)
		}
		if err := spec.checkProgram(); err != nil {
			return err
		}
		return c.changeSpec(func(s *Spec) { s.Env = spec.Env }, func() {})
	})
}
