package commands

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"berth/keys"
)

func helpVerb() *Verb {
	return &Verb{Name: "help", Group: "see", Synopsis: "[VERB]", Short: "this list, or one verb in full", Need: keys.Viewer, MaxArgs: 1, TextOnly: true, Run: help}
}

var groups = []string{"see", "follow", "drive", "keep", "talk", "access", "stay"}

func help(_ context.Context, c *Call) error {
	if len(c.Args) == 1 {
		return c.helpOn(c.Args[0])
	}
	return c.answer(nil, func(w io.Writer) {
		fmt.Fprintln(w, "VERB [options] SESSION [options] ...    help VERB shows one in full")
		for _, g := range groups {
			rows := [][]string{}
			for _, v := range verbs() {
				if v.Group == g && c.Identity().May(v.Name, v.Need) == nil {
					rows = append(rows, []string{"  " + v.Name, v.Short})
				}
			}
			if len(rows) > 0 {
				fmt.Fprintf(w, "\n%s\n", g)
				table(w, rows)
			}
		}
		fmt.Fprintln(w, "\nTARGET is a session's name, tag:T or all. With a terminal answers are text, without JSON; --json and --text say it.")
	})
}

func (c *Call) helpOn(name string) error {
	verb := Lookup(name)
	if verb == nil {
		return unknownVerb(name)
	}
	return c.answer(nil, func(w io.Writer) {
		fmt.Fprintf(w, "%s\n\n  %s\n", strings.TrimSpace(verb.Name+" "+verb.Synopsis), verb.Short)
		fmt.Fprintf(w, "  needs the role %s\n", verb.Need)
		if verb.Flags == nil {
			return
		}
		flags := pflag.NewFlagSet(verb.Name, pflag.ContinueOnError)
		verb.Flags(flags)
		fmt.Fprintf(w, "\n%s", flags.FlagUsages())
	})
}
