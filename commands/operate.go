package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"berth/api"
	"berth/keys"
)

// Reloaded is the answer of the verb reload.
type Reloaded struct {
	File         *string  `json:"file"` // berth.yaml that was read; null if there is none
	Applied      []string `json:"applied"`
	NeedsRestart []string `json:"needs_restart"` // fields that differ from those that the server started with
	Problems     []string `json:"problems"`      // what of the applied fields didn't work
}

func reloadVerb() *Verb {
	return &Verb{
		Name: "reload", Group: "access", Short: "read the key files and berth.yaml again, and say which fields apply now and which need a restart",
		Examples: []Example{
			{"reload", "apply a changed berth.yaml, as SIGHUP does"},
			{"reload --json=needs_restart", "which changed fields wait for the next start"},
		},
		Need: keys.Admin, Answer: Reloaded{}, Run: reload,
	}
}

func reload(ctx context.Context, c *Call) error {
	if err := c.wholeServer("reload"); err != nil {
		return err
	}
	r, err := c.Reload(ctx)
	if err != nil {
		return err
	}
	return c.answer(r, func(w io.Writer) {
		if r.File == nil {
			fmt.Fprintln(w, "the key files were read again; there is no berth.yaml")
			return
		}
		fmt.Fprintf(w, "read:          the key files and %s\n", *r.File)
		fmt.Fprintf(w, "applied:       %s\n", orNone(r.Applied))
		fmt.Fprintf(w, "needs restart: %s\n", orNone(r.NeedsRestart))
		for _, p := range r.Problems {
			fmt.Fprintf(w, "problem:       %s\n", p)
		}
	})
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}

// LogLevel is the answer of log level.
type LogLevel struct {
	Level      string  `json:"level"`
	Previous   *string `json:"previous"`   // null if the call set none
	Configured string  `json:"configured"` // what a reload or a restart sets
}

// logLevels are the levels of the server's log, the most talkative first.
var logLevels = []string{"debug", "info", "warn", "error"}

func logVerb() *Verb {
	return &Verb{
		Name: "log", Group: "access", Synopsis: "level [" + strings.Join(logLevels, "|") + "]",
		Short: "show or set the level of the server's log, until the next reload or restart",
		Examples: []Example{
			{"log level", "how much the server logs"},
			{"log level debug", "log each connection too"},
		},
		Need: keys.Admin, MinArgs: 1, MaxArgs: 2, Parts: []string{"level"}, Values: logLevels, Answer: LogLevel{}, Others: map[string]any{"level": LogLevel{}}, Run: logLevel,
	}
}

func logLevel(_ context.Context, c *Call) error {
	if err := c.wholeServer("log"); err != nil {
		return err
	}
	if c.Args[0] != "level" {
		return Lookup("log").usage(fmt.Errorf("unknown word %s; logs S shows what a session prints", api.Quote(c.Args[0])))
	}
	was := levelName(c.Level.Level())
	a := LogLevel{Level: was, Configured: levelName(c.ConfiguredLevel())}
	if len(c.Args) == 2 {
		if !slices.Contains(logLevels, c.Args[1]) {
			return Lookup("log").usage(errors.New(api.Quote(c.Args[1]) + " isn't a level"))
		}
		a.Previous, a.Level = &was, c.Args[1]
		c.setLevel(was, a.Level)
	}
	return c.answer(a, func(w io.Writer) {
		if a.Previous == nil {
			fmt.Fprintf(w, "%s (configured: %s)\n", a.Level, a.Configured)
			return
		}
		fmt.Fprintf(w, "%s, was %s, until the next reload or restart (configured: %s)\n", a.Level, *a.Previous, a.Configured)
	})
}

// setLevel changes the level. The log has a line about it unless both levels leave out such lines.
func (c *Call) setLevel(from, to string) {
	var next slog.Level
	if next.UnmarshalText([]byte(to)) != nil {
		return // logLevels has only levels
	}
	c.Level.Set(min(c.Level.Level(), next))
	c.Log.Info("log level changed", "from", from, "to", to, "identity", c.Identity().Name)
	c.Level.Set(next)
}

func levelName(l slog.Level) string { return strings.ToLower(l.String()) }

// wholeServer refuses a caller that doesn't see every session: the verb is about all of them.
func (c *Call) wholeServer(verb string) error {
	id := c.Identity()
	if id.SeesAll() {
		return nil
	}
	return api.Errorf(api.CodeDenied, "%s may not use %s: it is about the whole server, and the sessions= of the key has only %s", id.Name, verb, strings.Join(id.Sessions, ", ")).
		With("verb", verb).With("identity", id.Name)
}

func metricsVerb() *Verb {
	return &Verb{
		Name: "metrics", Group: "see", Short: "numbers of the whole server in Prometheus's text format",
		Examples: []Example{{"metrics", "sessions by state, open prompts, echo times and more, as a scrape gets them"}},
		Need:     keys.Viewer, TextOnly: true, Run: writeMetrics,
	}
}

func writeMetrics(_ context.Context, c *Call) error {
	if err := c.wholeServer("metrics"); err != nil {
		return err
	}
	return c.Metrics(c.Out)
}
