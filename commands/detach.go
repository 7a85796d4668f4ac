package commands

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"berth/keys"
	"berth/sessions"
)

// Detached is the answer of detach.
type Detached struct {
	Session string              `json:"session"`
	ID      string              `json:"id"`
	Clients []sessions.Attached `json:"clients"`
}

func detachVerb() *Verb {
	return &Verb{
		Name: "detach", Group: "stay", Synopsis: "S [--client C]",
		Short: "send attached clients away: your own, and as operator those of others; the session goes on",
		Examples: []Example{
			{"detach alpha", "all clients that you may detach"},
			{"detach alpha --client c12", "the one that who lists as c12"},
		},
		Need: keys.Viewer, MinArgs: 1, MaxArgs: 1, Answer: Detached{}, Run: detach,
		Flags: func(f *pflag.FlagSet) { f.String("client", "", "the client's id, as who lists it") },
	}
}

func detach(ctx context.Context, c *Call) error {
	s, err := c.session(c.Args[0])
	if err != nil {
		return err
	}
	client, _ := c.flags.GetString("client")
	gone, err := s.Detach(ctx, c.actor(), client, c.may("detach", keys.Operator, s))
	if err != nil {
		return err
	}
	name := s.Status().Name
	return c.answer(Detached{Session: name, ID: s.ID(), Clients: gone}, func(w io.Writer) {
		if len(gone) == 0 {
			fmt.Fprintf(w, "no client of yours is attached to %s\n", name)
		}
		for _, a := range gone {
			fmt.Fprintf(w, "detached %s (%s) from %s\n", a.Client, a.Identity, name)
		}
	})
}
