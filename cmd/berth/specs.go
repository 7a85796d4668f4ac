package main

import (
	"context"
	"fmt"

	"berth/agent"
	"berth/config"
	"berth/sessions"
	"berth/sessions/worktree"
)

// spec turns a session of the configuration into one to start.
func spec(c config.Session) sessions.Spec {
	s := sessions.Spec{
		Name: c.Name, Profile: c.Profile, Agent: c.Agent, Command: c.Command, Cwd: c.Cwd, Env: c.Env, EnvFile: c.EnvFile, EnvPass: c.EnvPass,
		LoginEnv: c.LoginEnv == nil || *c.LoginEnv, Cols: c.Size.Cols, Rows: c.Size.Rows,
		SizePolicy: sessions.SizePolicy(c.SizePolicy), Restart: sessions.Restart(c.Restart), Tags: c.Tags, Meta: c.Meta,
		IdleGrace: c.IdleGrace, AfterLimit: c.AfterLimit,
		Limits: sessions.Limits{
			Output: int64(c.Limits.Output), Scrollback: c.Limits.Scrollback, TTL: c.Limits.TTL, IdleTimeout: c.Limits.IdleTimeout,
			Memory: int64(c.Limits.Memory), Processes: c.Limits.Processes, CPU: int64(c.Limits.CPU),
		},
	}
	s.Rules, s.User, s.Setup = c.Rules, c.User, c.Setup
	s.Team, s.Peers = c.Team, c.Peers
	if c.Worktree != nil && *c.Worktree {
		s.Worktree = &worktree.Tree{Phase: worktree.Wanted}
	}
	if c.Children != nil {
		s.Children = sessions.Children{Profiles: c.Children.Profiles, Max: c.Children.Max, Depth: c.Children.Depth, Total: c.Children.Total, LifetimeMS: c.Children.Lifetime.Milliseconds(), Cwd: c.Children.Cwd, Starts: c.Children.Starts, Keep: c.Children.Keep, Verbs: c.Children.Verbs, InboxOnly: c.Children.InboxOnly}
	}
	s.Isolate, s.Groom = agent.Isolation(c.Isolate), agent.Groom(c.Groom)
	s.Trust, s.AcceptBypass = c.Trust != nil && *c.Trust, c.AcceptBypass != nil && *c.AcceptBypass
	s.Gate, _ = c.Gate.Config() // checked when the configuration was loaded
	s.Start = c.Begins()
	s.Notify = config.Rules(c.Notify)
	s.Prompt, s.Settings, s.MCP, s.Conversation, s.TakeUp = c.Prompt, c.Settings, c.MCP, c.Conversation, c.Resume
	return s
}

// profiles are what new --profile can start from.
func profiles(c *config.Config) (map[string]sessions.Spec, error) {
	out := map[string]sessions.Spec{}
	for name, p := range c.Profiles {
		whole, err := c.Resolve(p)
		if err != nil {
			return nil, fmt.Errorf("profile %s: %w", name, err)
		}
		out[name] = spec(whole)
	}
	return out, nil
}

// defaults are what new starts from without a profile.
func defaults(c *config.Config) (sessions.Spec, error) {
	whole, err := c.Resolve(config.Session{})
	return spec(whole), err
}

// startSessions starts the configured sessions that don't exist yet. Its problems are in the log
// too.
func (s *server) startSessions(ctx context.Context) (problems []error) {
	now := s.now.Load()
	for _, c := range now.Sessions {
		if _, there := s.sessions.Find(c.Name); there {
			continue
		}
		whole, err := now.Resolve(c)
		if err == nil {
			made := spec(whole)
			made.Configured = configured(made, whole)
			_, err = s.sessions.New(ctx, made, server0)
		}
		if err != nil {
			s.log.Error("a session of the configuration couldn't be started", "session", c.Name, "error", err)
			problems = append(problems, fmt.Errorf("start session %s: %w", c.Name, err))
		}
	}
	return problems
}

func configured(spec sessions.Spec, whole config.Session) *sessions.Configured {
	return &sessions.Configured{Gate: spec.Gate, Start: spec.Start, Notify: spec.Notify, Fields: whole.Digests()}
}

// followConfig gives existing configured sessions, running or ended, the fields that changed in
// the configuration since they were made. waiting names those that wait for the next start of a session's program,
// and those that no session can change. Its problems are in the log too.
func (s *server) followConfig(ctx context.Context) (waiting []string, problems []error) {
	now := s.now.Load()
	for _, c := range now.Sessions {
		there, ok := s.sessions.Find(c.Name)
		if !ok || there.Status().CreatedBy != server0.Identity.Name {
			continue // another caller's session of that name
		}
		whole, err := now.Resolve(c)
		if err == nil {
			var fields []string
			fields, err = s.followFields(ctx, there, whole)
			for _, field := range fields {
				waiting = append(waiting, "sessions."+c.Name+"."+field)
			}
		}
		if err == nil {
			given := spec(whole)
			err = there.FollowConfig(ctx, *configured(given, whole), server0)
		}
		if err != nil {
			s.log.Error("a session doesn't follow the configuration", "session", c.Name, "error", err)
			problems = append(problems, fmt.Errorf("session %s doesn't follow the configuration: %w", c.Name, err))
		}
	}
	return waiting, problems
}
