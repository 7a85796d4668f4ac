package main

import (
	"context"
	"maps"
	"slices"

	"berth/config"
	"berth/sessions"
)

// ownWay are the fields of a configured session that FollowConfig looks after, or that matter at its first start alone.
var ownWay = []string{"name", "profile", "gate", "start_context", "notify", "prompt", "conversation", "resume"}

// fixedFields are the fields that no session changes: rm removes it, and the server makes it again.
var fixedFields = []string{"agent", "user", "rules", "worktree", "setup"}

// aliveFields are the fields that a session changes while its program runs.
var aliveFields = []string{
	"tags", "meta", "team", "peers", "children", "after_limit", "restart", "size_policy", "idle_grace", "trust", "accept_bypass", "groom",
}

// followed has what each changed field of the configuration sets: all of it, and not only what was added.
var followed = map[string]func(s *sessions.Spec, given sessions.Spec){
	"env":      func(s *sessions.Spec, given sessions.Spec) { s.Env = given.Env },
	"env_file": func(s *sessions.Spec, given sessions.Spec) { s.EnvFile = given.EnvFile },
	"env_pass": func(s *sessions.Spec, given sessions.Spec) { s.EnvPass = given.EnvPass },
	"settings": func(s *sessions.Spec, given sessions.Spec) { s.Settings = given.Settings },
	"mcp":      func(s *sessions.Spec, given sessions.Spec) { s.MCP = given.MCP },
	"tags":     func(s *sessions.Spec, given sessions.Spec) { s.Tags = given.Tags },
	"meta":     func(s *sessions.Spec, given sessions.Spec) { s.Meta = given.Meta },
	"limits":   func(s *sessions.Spec, given sessions.Spec) { s.Limits = given.Limits },
}

// followFields gives a session the fields that have changed in the configuration. It returns those that its running
// program doesn't have yet.
func (s *server) followFields(ctx context.Context, there *sessions.Session, whole config.Session) (waiting []string, err error) {
	st := there.Status()
	if st.Configured == nil || st.Configured.Fields == nil {
		return nil, nil // it was made before these were kept
	}
	given, was, now := spec(whole), st.Configured.Fields, whole.Digests()
	names := maps.Clone(was)
	maps.Copy(names, now)
	var sets []func(*sessions.Spec, sessions.Spec)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if was[name] == now[name] || slices.Contains(ownWay, name) {
			continue
		}
		fixed := slices.Contains(fixedFields, name) || name == "cwd" && (st.Driven || st.Worktree != nil)
		alive := slices.Contains(aliveFields, name) || name == "limits" && startLimits(st.Limits) == startLimits(given.Limits)
		if fixed || !alive && !st.Over() {
			waiting = append(waiting, name)
		}
		if fixed {
			continue
		}
		set := followed[name]
		if set == nil {
			set = layers[name]
		}
		if set != nil {
			sets = append(sets, set)
		}
	}
	if len(sets) == 0 {
		return waiting, nil
	}
	return waiting, s.sessions.Change(ctx, there, func(one sessions.Spec) sessions.Spec {
		for _, set := range sets {
			set(&one, given)
		}
		return one
	}, server0)
}

// startLimits are the limits that need a start of the program to change.
func startLimits(l sessions.Limits) sessions.Limits {
	l.TTL, l.IdleTimeout = 0, 0
	return l
}
