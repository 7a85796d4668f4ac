package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"berth/api"
	"berth/keys"
	"berth/sessions"
)

// EnvOf is the answer of the verb env: what the next start of the session's program gets.
type EnvOf struct {
	Session string            `json:"session"`
	ID      string            `json:"id"`
	Env     map[string]string `json:"env"` // values are shown to admins alone, and those of secret names are never shown
}

func envVerb() *Verb {
	return &Verb{
		Name: "env", Group: "see", Synopsis: "S [ls | set NAME=VALUE... | set - | rm NAME...]",
		Short: "the session's variables for the next start of its program; set - reads NAME=VALUE lines",
		Examples: []Example{
			{"env alpha", "the names, and for admins the values that aren't secret"},
			{"env alpha set STAGE=test", "from the next start on; restart alpha --env STAGE=test starts it too"},
			{"env alpha rm STAGE", "remove it"},
		},
		Need: keys.Viewer, MinArgs: 1, MaxArgs: -1, Answer: EnvOf{}, Run: env,
		Changes: func(args []string) bool { return len(args) > 1 && args[1] != "ls" },
	}
}

func env(ctx context.Context, c *Call) error {
	s, err := c.session(c.Args[0])
	if err != nil {
		return err
	}
	rest := c.Args[1:]
	switch {
	case len(rest) == 0 || len(rest) == 1 && rest[0] == "ls":
	case len(rest) > 1 && (rest[0] == "set" || rest[0] == "rm"):
		if err := c.setEnv(ctx, s, rest[0], rest[1:]); err != nil {
			return err
		}
	default:
		return Lookup("env").usage(errors.New("after the session give ls, set NAME=VALUE or rm NAME"))
	}
	i := s.Info(c.Identity().IsAdmin())
	out := EnvOf{Session: i.Session, ID: i.ID, Env: map[string]string{}}
	for name, value := range i.Env {
		out.Env[name] = value
	}
	return c.answer(out, func(w io.Writer) {
		if len(out.Env) == 0 {
			fmt.Fprintf(w, "%s has no variables of its own\n", out.Session)
		}
		for _, pair := range pairsOf(out.Env) {
			fmt.Fprintln(w, pair)
		}
	})
}

// setEnv changes variables. They decide what is run, as a command does.
func (c *Call) setEnv(ctx context.Context, s *sessions.Session, how string, words []string) error {
	allowed := func() error {
		if err := c.may("env", keys.Admin, s); err != nil {
			return err
		}
		return c.mayOwnCommand()
	}
	if err := allowed(); err != nil {
		return err
	}
	if how == "rm" {
		return s.SetEnv(ctx, nil, words)
	}
	if len(words) == 1 && words[0] == "-" {
		c.Stdin = true
		text, err := c.tailBytes()
		if err != nil {
			return err
		}
		if err := allowed(); err != nil { // as it is after the lines were read
			return err
		}
		words = nil
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimRight(line, "\r\n"); line != "" {
				words = append(words, line)
			}
		}
		if len(words) == 0 {
			return api.Errorf(api.CodeUsage, "env: there is no NAME=VALUE line on standard input")
		}
	}
	set := map[string]string{}
	for _, pair := range words {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return api.Errorf(api.CodeUsage, "env: set needs NAME=VALUE; %s has no value", api.Quote(name))
		}
		set[name] = value
	}
	return s.SetEnv(ctx, set, nil)
}
