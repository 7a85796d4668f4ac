package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"berth/api"
	"berth/keys"
	"berth/sessions"
)

// Document has the fields that a caller gives a session with new, restart or fork.
type Document struct {
	Fields []string      // that it sets, as in berth.yaml
	Runs   bool          // a notification or a start context runs a command
	Given  sessions.Spec // what it sets, and nothing else
	Over   func(sessions.Spec) sessions.Spec
}

// FromOptions is the name of a document that was made from options: its lines mean nothing to the caller.
const FromOptions = "options"

// launchFlags are the options of verbs that start a session's program.
func launchFlags(f *pflag.FlagSet) {
	f.String("config", "", "- reads a YAML or JSON document with fields of a profile from standard input")
	f.String("gate", "", "allow, auto or gate=TEXT: what keeps the agent from ending its turn")
	f.StringArray("meta", nil, "KEY=VALUE to keep with the session")
	f.StringArray("limit", nil, "NAME=VALUE of limits, such as memory=2GiB or idle_timeout=1h")
}

// documents are the fields that the caller gives: those of --config, then those of options. With env, --env is one of
// these.
func (c *Call) documents(ctx context.Context, env bool) ([]*Document, error) {
	var list []*Document
	if c.flags.Changed("config") {
		if from, _ := c.flags.GetString("config"); from != "-" {
			return nil, api.Errorf(api.CodeUsage, "--config reads standard input alone: give --config - and pipe the document in")
		}
		if prompt, _ := c.flags.GetString("prompt"); prompt == "-" {
			return nil, api.Errorf(api.CodeUsage, "--config - and --prompt - both read standard input: give the message as prompt in the document")
		}
		c.Stdin = true
		data, err := c.tailBytes()
		c.Stdin = false
		if err != nil {
			return nil, err
		}
		doc, err := c.document(ctx, data)
		if err != nil {
			return nil, err
		}
		list = append(list, doc)
	}
	options, err := c.optionFields(env)
	if err != nil || len(options) == 0 {
		return list, err
	}
	data, err := json.Marshal(options)
	if err != nil {
		return nil, fmt.Errorf("encode the options: %w", err)
	}
	doc, err := c.Document(FromOptions, data)
	return append(list, doc), err
}

// document reads a document from standard input. One takes up to a second, and all callers' are read one after another,
// so a caller's wait for each other first.
func (c *Call) document(ctx context.Context, data []byte) (doc *Document, err error) {
	pace, leave, err := c.matchers.enter(c.Identity(), documents)
	if err != nil {
		return nil, err
	}
	defer leave()
	err = pace.work(ctx, func() error {
		doc, err = c.Document("stdin", data)
		return err
	})
	return doc, err
}

// optionFields are the options in the form of a document.
func (c *Call) optionFields(env bool) (map[string]any, error) {
	out := map[string]any{}
	names := map[string]string{"meta": "meta", "limit": "limits"}
	if env {
		names["env"] = "env"
	}
	for flag, field := range names {
		pairs, _ := c.flags.GetStringArray(flag)
		group := map[string]string{}
		for _, pair := range pairs {
			k, v, ok := strings.Cut(pair, "=")
			if !ok || k == "" {
				return nil, api.Errorf(api.CodeUsage, "--%s needs NAME=VALUE; %s has no value", flag, api.Quote(k))
			}
			group[k] = v
		}
		if len(group) > 0 {
			out[field] = group
		}
	}
	if gate, _ := c.flags.GetString("gate"); c.flags.Changed("gate") {
		text, ok := strings.CutPrefix(gate, "gate=")
		switch {
		case ok:
			out["gate"] = map[string]string{"mode": "gate", "text": text}
		case gate == "allow", gate == "auto":
			out["gate"] = gate
		default:
			return nil, api.Errorf(api.CodeUsage, "--gate is allow, auto or gate=TEXT, not %s", api.Quote(gate))
		}
	}
	return out, nil
}

// ownFields are the fields that decide what is run, as the options of ownProgram do.
var ownFields = []string{
	"accept_bypass", "agent", "command", "conversation", "cwd", "env", "env_pass", "groom", "isolate", "login_env", "mcp", "resume", "rules", "settings",
	"setup", "trust", "user",
}

// wideFields are the fields that reach beyond the session. A key with sessions= or verbs= may not set them.
var wideFields = []string{"children", "notify", "peers", "start_context", "team"}

// agentFields are the fields that a process inside a session may give its children.
var agentFields = []string{"prompt", "size"}

// mayGive checks the caller's right to set the fields of a document.
func (c *Call) mayGive(docs []*Document) error {
	id := c.Identity()
	for _, doc := range docs {
		for _, field := range doc.Fields {
			own := slices.Contains(ownFields, field) || doc.Runs
			switch wide := slices.Contains(wideFields, field); {
			case id.Kind == keys.KindAgent && !slices.Contains(agentFields, field):
				own = true
			case wide && id.Narrowed():
				own = true
			}
			if !own {
				continue
			}
			if err := c.mayOwnCommand(); err != nil {
				return api.AsError(err).With("field", field)
			}
		}
		if err := c.mayTag(doc.Given.Tags); err != nil {
			return err
		}
	}
	return nil
}

// mayTag checks a narrowed key's right to give a session tags. Sessions that it may not see can take the messages
// of all sessions with a tag (peers), so such a tag would reach them, as the fields peers and team would.
func (c *Call) mayTag(tags []string) error {
	id := c.Identity()
	if !id.Narrowed() || len(tags) == 0 {
		return nil
	}
	for _, s := range c.Sessions.All() {
		if c.sees(s) {
			continue
		}
		for _, tag := range tags {
			if slices.Contains(s.Status().Peers, "tag:"+tag) && !id.Sees("", []string{tag}) {
				return api.Errorf(api.CodeDenied, "%s may not give a session the tag %s: sessions beyond its key take messages from those with it", id.Name, tag).
					With("verb", c.verbName()).With("identity", id.Name).With("tag", tag)
			}
		}
	}
	return nil
}

// mayName is mayTag for a name: a key with sessions="tag:T" sees its sessions by any name. What an agent may call its
// children is the registry's to check.
func (c *Call) mayName(name string) error {
	id := c.Identity()
	if name == "" || id.Kind == keys.KindAgent || !id.Narrowed() || id.Sees(name, nil) {
		return nil
	}
	for _, s := range c.Sessions.All() {
		if !c.sees(s) && slices.Contains(s.Status().Peers, name) {
			return api.Errorf(api.CodeDenied, "%s may not give a session the name %s: sessions beyond its key take messages from one with it", id.Name, name).
				With("verb", c.verbName()).With("identity", id.Name).With("session", name)
		}
	}
	return nil
}

// mayLimit checks the caller's right to change a session's limits. One that may only start profiles can lower
// those that the profile or the session has.
func (c *Call) mayLimit(was, now sessions.Limits) error {
	name := now.Above(was)
	if name == "" {
		return nil
	}
	if err := c.mayOwnCommand(); err != nil {
		return api.Errorf(api.CodeDenied, "the limit %s can only be lowered: %w", name, err).With("verb", c.verbName()).With("identity", c.Identity().Name).With("field", "limits")
	}
	return nil
}

// mayOwnCommand checks that the caller may decide what a session runs.
func (c *Call) mayOwnCommand() error { return c.Service.mayOwnCommand(c.Request) }

func (s *Service) mayOwnCommand(r Request) error {
	id := r.Identity()
	if err := id.MayNewCommand(); err != nil {
		return err
	}
	if s.OnlyProfiles != nil && s.OnlyProfiles() {
		return api.Errorf(api.CodeDenied, "sessions are started from profiles alone: berth.yaml has new: profiles").With("verb", VerbOf(r.Line)).With("identity", id.Name)
	}
	return nil
}

// verbOfField are the verbs that change the same field of an existing session.
var verbOfField = map[string]string{"tags": "tag", "meta": "meta", "gate": "gate", "start_context": "start-context", "after_limit": "nudge"}

// changeOf is what the documents change of an existing session, which has some limits; nil for nothing. The caller
// needs the rights that the verbs for the same changes need.
func (c *Call) changeOf(docs []*Document, has sessions.Limits) (func(sessions.Spec) sessions.Spec, error) {
	if len(docs) == 0 {
		return nil, nil
	}
	id := c.Identity()
	if id.Kind == keys.KindAgent {
		return nil, api.Errorf(api.CodeDenied, "a process inside a session may not change sessions").With("verb", c.verbName()).With("identity", id.Name)
	}
	if err := c.mayGive(docs); err != nil {
		return nil, err
	}
	limits := has
	for _, doc := range docs {
		limits = limits.With(doc.Given.Limits)
	}
	if err := c.mayLimit(has, limits); err != nil {
		return nil, err
	}
	for _, doc := range docs {
		for _, field := range doc.Fields {
			if verb := verbOfField[field]; verb != "" {
				if err := id.May(verb, keys.Admin); err != nil {
					return nil, err
				}
			}
		}
	}
	return func(spec sessions.Spec) sessions.Spec {
		for _, doc := range docs {
			spec = doc.Over(spec)
		}
		return spec
	}, nil
}
