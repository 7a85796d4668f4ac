package commands

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"berth/api"
	"berth/keys"
)

func forkVerb() *Verb {
	return &Verb{
		Name: "fork", Group: "keep", Synopsis: "S [NAME] [--prompt TEXT|-] [--env K=V]... [--limit K=V]... [--gate M] [--meta K=V]... [--config -]",
		Short: "start a session like S; its agent starts with a copy of S's conversation",
		Examples: []Example{
			{"fork alpha", "a session like alpha, with a copy of its conversation"},
			{`fork alpha try2 --prompt "'try it with a map'"`, "with a name and a message"},
		},
		Need: keys.Admin, MinArgs: 1, MaxArgs: 2, Answer: Made{}, Run: fork,
		Flags: func(f *pflag.FlagSet) {
			f.String("prompt", "", "first message, given when the agent is ready; - reads standard input")
			f.StringArray("env", nil, "K=V for the program's environment")
			launchFlags(f)
		},
	}
}

// fork needs rights on both sessions: on the source and on the resulting name. It runs the
// source's program, so a key that may not start other programs may fork.
func fork(ctx context.Context, c *Call) error {
	s, err := c.session(c.Args[0])
	if err != nil {
		return err
	}
	name := ""
	if len(c.Args) == 2 {
		name = c.Args[1]
		if err := api.CheckName(name); err != nil {
			return err
		}
		if id := c.Identity(); !id.Sees(name, s.Status().Tags) {
			return id.Denied("fork", name)
		}
		if err := c.mayName(name); err != nil {
			return err
		}
	}
	docs, err := c.documents(ctx, true)
	if err != nil {
		return err
	}
	if _, err := c.changeOf(docs, s.Status().Limits); err != nil {
		return err
	}
	prompt := ""
	for _, doc := range docs {
		prompt = cmp.Or(doc.Given.Prompt, prompt)
	}
	if prompt, err = c.promptOption(prompt, docs...); err != nil {
		return err
	}
	if err := c.may("fork", keys.Admin, s); err != nil { // as it is after the message was read
		return err
	}
	change, err := c.changeOf(docs, s.Status().Limits) // likewise: new: profiles may apply by now
	if err != nil {
		return err
	}
	made, err := c.Sessions.Fork(ctx, s, name, prompt, change, c.actor())
	if err != nil {
		return err
	}
	row := c.madeRow(ctx, made, prompt)
	return c.answer(row, func(w io.Writer) {
		fmt.Fprintf(w, "%s started from the conversation of %s (pid %d)\n", row.Session, s.Status().Name, row.PID)
	})
}
