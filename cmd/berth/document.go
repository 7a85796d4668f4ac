package main

import (
	"errors"
	"maps"
	"slices"

	"berth/api"
	"berth/commands"
	"berth/config"
	"berth/sessions"
)

// document reads the fields that a caller gives with a verb.
func (s *server) document(from string, data []byte) (*commands.Document, error) {
	doc, err := config.ParseDocument(from, data)
	if problems := (config.Problems{}); from == commands.FromOptions && errors.As(err, &problems) {
		for i := range problems {
			problems[i].File, problems[i].Line, problems[i].Column = "", 0, 0
		}
		err = problems
	}
	if err != nil {
		return nil, refused("the document isn't valid", err)
	}
	given := spec(doc.Session)
	for _, name := range given.Children.Profiles {
		if _, ok := s.specs.Load().Profiles[name]; !ok {
			return nil, refused("the document isn't valid", config.Problems{{
				File: from, Field: "children.profiles", Text: "unknown profile " + api.Quote(name), Remedy: "profile ls lists the profiles",
			}})
		}
	}
	runs := false
	for _, rule := range given.Notify {
		runs = runs || len(rule.Run) > 0
	}
	for _, one := range given.Start {
		runs = runs || len(one.Run) > 0
	}
	return &commands.Document{
		Fields: doc.Set, Runs: runs, Given: given,
		Over: func(base sessions.Spec) sessions.Spec { return over(base, given, doc) },
	}, nil
}

// over lays a document over what a session is made from: env, meta, settings and mcp are merged by key, tags are
// joined, limits are set one by one, and any other field of the document wins.
func over(base, given sessions.Spec, doc config.Document) sessions.Spec {
	for _, field := range doc.Set {
		layers[field](&base, given)
	}
	return base
}

// layers has what each field of a document sets.
var layers = map[string]func(s *sessions.Spec, given sessions.Spec){
	"agent":     func(s *sessions.Spec, given sessions.Spec) { s.Agent = given.Agent },
	"rules":     func(s *sessions.Spec, given sessions.Spec) { s.Rules = given.Rules },
	"command":   func(s *sessions.Spec, given sessions.Spec) { s.Command = given.Command },
	"cwd":       func(s *sessions.Spec, given sessions.Spec) { s.Cwd = given.Cwd },
	"worktree":  func(s *sessions.Spec, given sessions.Spec) { s.Worktree = given.Worktree },
	"setup":     func(s *sessions.Spec, given sessions.Spec) { s.Setup = given.Setup },
	"env":       func(s *sessions.Spec, given sessions.Spec) { s.Env = merged(s.Env, given.Env) },
	"env_pass":  func(s *sessions.Spec, given sessions.Spec) { s.EnvPass = joined(s.EnvPass, given.EnvPass) },
	"login_env": func(s *sessions.Spec, given sessions.Spec) { s.LoginEnv = given.LoginEnv },
	"prompt":    func(s *sessions.Spec, given sessions.Spec) { s.Prompt = given.Prompt },
	"conversation": func(s *sessions.Spec, given sessions.Spec) {
		s.Conversation, s.TakeUp = given.Conversation, given.TakeUp
	},
	"resume": func(s *sessions.Spec, given sessions.Spec) {
		s.Conversation, s.TakeUp = given.Conversation, given.TakeUp
	},
	"size":          func(s *sessions.Spec, given sessions.Spec) { s.Cols, s.Rows = given.Cols, given.Rows },
	"size_policy":   func(s *sessions.Spec, given sessions.Spec) { s.SizePolicy = given.SizePolicy },
	"groom":         func(s *sessions.Spec, given sessions.Spec) { s.Groom = given.Groom },
	"trust":         func(s *sessions.Spec, given sessions.Spec) { s.Trust = given.Trust },
	"accept_bypass": func(s *sessions.Spec, given sessions.Spec) { s.AcceptBypass = given.AcceptBypass },
	"isolate":       func(s *sessions.Spec, given sessions.Spec) { s.Isolate = given.Isolate },
	"restart":       func(s *sessions.Spec, given sessions.Spec) { s.Restart = given.Restart },
	"settings":      func(s *sessions.Spec, given sessions.Spec) { s.Settings = deepMerged(s.Settings, given.Settings) },
	"mcp":           func(s *sessions.Spec, given sessions.Spec) { s.MCP = merged(servers(s.MCP), servers(given.MCP)) },
	"children":      func(s *sessions.Spec, given sessions.Spec) { s.Children = given.Children },
	"user":          func(s *sessions.Spec, given sessions.Spec) { s.User, s.UID = given.User, 0 },
	"gate":          func(s *sessions.Spec, given sessions.Spec) { s.Gate = given.Gate },
	"start_context": func(s *sessions.Spec, given sessions.Spec) { s.Start = given.Start },
	"after_limit":   func(s *sessions.Spec, given sessions.Spec) { s.AfterLimit = given.AfterLimit },
	"idle_grace":    func(s *sessions.Spec, given sessions.Spec) { s.IdleGrace = given.IdleGrace },
	"notify":        func(s *sessions.Spec, given sessions.Spec) { s.Notify = given.Notify },
	"limits":        func(s *sessions.Spec, given sessions.Spec) { s.Limits = s.Limits.With(given.Limits) },
	"tags":          func(s *sessions.Spec, given sessions.Spec) { s.Tags = joined(s.Tags, given.Tags) },
	"meta":          func(s *sessions.Spec, given sessions.Spec) { s.Meta = merged(s.Meta, given.Meta) },
	"team":          func(s *sessions.Spec, given sessions.Spec) { s.Team = given.Team },
	"peers":         func(s *sessions.Spec, given sessions.Spec) { s.Peers = given.Peers },
}

func merged[V any](base, given map[string]V) map[string]V {
	out := make(map[string]V, len(base)+len(given))
	maps.Copy(out, base)
	maps.Copy(out, given)
	return out
}

// deepMerged merges groups within groups too. Of anything else, such as a list, the given one wins.
func deepMerged(base, given map[string]any) map[string]any {
	out := maps.Clone(base)
	if out == nil {
		out = map[string]any{}
	}
	for key, value := range given {
		a, ok := out[key].(map[string]any)
		b, also := value.(map[string]any)
		if ok && also {
			value = deepMerged(a, b)
		}
		out[key] = value
	}
	return out
}

// servers are the MCP servers by name, which may be in a group of their own.
func servers(mcp map[string]any) map[string]any {
	if whole, ok := mcp["mcpServers"].(map[string]any); ok {
		return whole
	}
	return mcp
}

func joined(base, given []string) []string {
	out := slices.Clone(base)
	for _, one := range given {
		if !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	return out
}
